// One listener for the whole page. A view says which keys it takes while it is shown; what lies on top is asked first.
(function (app) {
  "use strict";
  const { hooks } = app;
  const stack = [];

  function inField(target) {
    return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName));
  }

  // Enter and Space on a button or link do what the button or link does.
  function ownsKey(target, key) {
    return (key === "Enter" || key === " ") && target instanceof HTMLElement && target.closest("a, button, summary") !== null;
  }

  function onKey(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    // A field has its own keys (arrows choose, Enter confirms): of all that is typed in it, the page takes the way out.
    if (inField(event.target) && event.key !== "Escape") return;
    if (ownsKey(event.target, event.key)) return;
    for (let index = stack.length - 1; index >= 0; index -= 1) {
      const handler = stack[index].current[event.key];
      if (handler && handler(event) !== false) {
        event.preventDefault();
        return;
      }
      if (stack[index].current.only) return;
    }
  }

  document.addEventListener("keydown", onKey);

  /**
   * `keys`: {key name: handler}. A handler that returns false leaves the key to others; `only` shuts off what lies below.
   * `level` says what lies on what (page 0, view 1, sheet 2, help 3): effects of children run before those of parents.
   */
  function useKeys(keys, level) {
    const entry = hooks.useRef(null);
    entry.current = keys;
    hooks.useLayoutEffect(() => {
      entry.level = level;
      stack.push(entry);
      stack.sort((one, other) => one.level - other.level);
      return () => stack.splice(stack.indexOf(entry), 1);
    }, []);
  }

  /** Brings an element into view below the bar at the top, without motion that nobody asked for. */
  function reveal(element, { focus = true, block = "nearest" } = {}) {
    if (!element) return;
    if (focus) element.focus({ preventScroll: true });
    element.scrollIntoView({ block, behavior: "auto" });
  }

  Object.assign(app, { useKeys, reveal });
})(window.harnessApp);
