// Where the reader is, in the address behind `#`: it survives reload and the back button.
//   #/?q=…&change=worse   #/run/12?at=5&view=seen&list=change%3Dworse   #/plots
// `list` is what the list was filtered by when the run was opened: the way back leads there, and next and previous follow it.
(function (app) {
  "use strict";
  const { hooks } = app;

  function readRoute(hash = window.location.hash) {
    const [path, query = ""] = hash.replace(/^#/, "").split("?");
    const names = path.split("/").filter(Boolean);
    const params = Object.fromEntries(new URLSearchParams(query));
    if (names[0] === "run" && /^\d+$/.test(names[1] || "")) {
      const { list = "", ...own } = params;
      return { page: "run", row: Number(names[1]), params: own, list: Object.fromEntries(new URLSearchParams(list)) };
    }
    if (names[0] === "plots") return { page: "plots", params };
    return { page: "overview", params };
  }

  let listed = ""; // what the list is filtered by, as it stands in an address

  const queryOf = (params) => new URLSearchParams(Object.entries(params || {}).filter(([, value]) => value !== "" && value !== null && value !== undefined)).toString();

  function writeRoute(route) {
    const query = queryOf(route.page === "run" ? { ...route.params, list: listed } : route.params);
    const path = route.page === "run" ? `#/run/${route.row}` : route.page === "plots" ? "#/plots" : "#/";
    return query ? `${path}?${query}` : path;
  }

  // Browsers slow down or refuse many history entries a second (typing, a held arrow key), so the address follows a moment later.
  const WRITE_AFTER_MS = 250;
  let current = remembered(readRoute());
  let timer = null;
  const listeners = new Set();

  /** Keeps what the list is filtered by, for the runs that are opened from it and for the way back. */
  function remembered(route) {
    if (route.page === "plots") return route;
    app.lastFilters = route.page === "run" ? route.list : route.params;
    listed = queryOf(app.lastFilters);
    return route;
  }

  const tell = () => listeners.forEach((listener) => listener(current));

  function writeNow() {
    if (timer === null) return;
    window.clearTimeout(timer);
    timer = null;
    window.history.replaceState(null, "", writeRoute(current));
  }

  function arrive() {
    if (timer !== null) window.clearTimeout(timer);
    timer = null;
    current = remembered(readRoute());
    tell();
  }

  /** A new place: the back button returns to where the reader was. */
  function go(route) {
    writeNow();
    const hash = writeRoute(route);
    if (hash === window.location.hash) return;
    window.location.hash = hash;
    arrive(); // at once: the next key may come before the browser tells of the change
  }

  /** The same place, looked at otherwise (a filter, the selected step): no new entry in the history. */
  function stay(params) {
    current = remembered({ ...current, params: { ...current.params, ...params } });
    if (timer !== null) window.clearTimeout(timer);
    timer = window.setTimeout(writeNow, WRITE_AFTER_MS);
    tell();
  }

  window.addEventListener("hashchange", arrive);
  window.addEventListener("pagehide", writeNow);
  // A link is followed by the browser itself: what was typed just before belongs to the place that is left.
  document.addEventListener("click", (event) => event.target.closest && event.target.closest("a") && writeNow(), true);

  function useRoute() {
    const [route, set] = hooks.useState(current);
    hooks.useEffect(() => {
      listeners.add(set);
      return () => listeners.delete(set);
    }, []);
    return route;
  }

  const runHref = (row, params) => writeRoute({ page: "run", row, params });

  Object.assign(app, { readRoute, writeRoute, runHref, go, stay, useRoute });
})(window.harnessApp);
