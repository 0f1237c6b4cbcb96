// Small parts that every view is made of.
(function (app) {
  "use strict";
  const { html, hooks } = app;
  const { useState, useRef } = hooks;

  const CHANGES = ["worse", "missing", "changed", "new", "better", "same"];
  const TONES = app.table({
    worse: "bad", missing: "bad", changed: "warn", new: "info", better: "good", same: "calm",
    PASS: "good", FAIL: "bad", ERROR: "bad", INVALID: "bad", INCONCLUSIVE: "warn", NOT_APPLICABLE: "calm",
  });
  const SIGNS = app.table({ PASS: "✓", FAIL: "✕", ERROR: "!", INVALID: "!", INCONCLUSIVE: "?", NOT_APPLICABLE: "–" });

  // In a report of one side there is nothing that its runs are candidates against.
  const sideName = (side) => (app.hasBase ? side : "runs");

  const tone = (word) => TONES[app.plain(word)] || "calm";

  /** A word with its colour; the word itself says all that the colour says. */
  function Badge({ word, children }) {
    return html`<span class=${`badge ${tone(word)}`}>${children || app.label(word, 40)}</span>`;
  }

  function OutcomeBadge({ word }) {
    if (!word) return html`<span class="muted">${app.NONE}</span>`;
    return html`<span class=${`outcome ${tone(word)}`}><span aria-hidden="true">${SIGNS[word] || ""}</span> ${app.label(word, 20)}</span>`;
  }

  /** PASS → FAIL, or one of them where they are equal or a side is missing. */
  function Outcomes({ base, candidate }) {
    if (!app.hasBase || base === candidate) return html`<${OutcomeBadge} word=${candidate || base} />`;
    return html`<span class="outcomes"><${OutcomeBadge} word=${base} /><span class="arrow"> → </span><${OutcomeBadge} word=${candidate} /></span>`;
  }

  function copyBySelection(element) {
    const range = document.createRange();
    range.selectNodeContents(element);
    const selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    return document.execCommand("copy");
  }

  /** A command with a button that copies it. Where the clipboard is shut, the text is left selected. */
  function Command({ text }) {
    const code = useRef(null);
    const [said, say] = useState("Copy");
    async function copy() {
      let done = false;
      try {
        await navigator.clipboard.writeText(text);
        done = true;
      } catch {
        done = copyBySelection(code.current); // no clipboard for this file or this browser
      }
      say(done ? "Copied" : "Selected");
      window.setTimeout(() => say("Copy"), 1600);
    }
    return html`<div class="command">
      <code ref=${code} tabindex="0" aria-label="command to reproduce"><${app.Text} value=${text} /></code>
      <button type="button" onClick=${copy} aria-live="polite">${said}</button>
    </div>`;
  }

  // Set before the page goes to paper, and by a view that only looks like paper.
  let printing = false;
  const onPaper = new Set();
  function tellPaper(is) {
    printing = is;
    onPaper.forEach((listener) => listener(is));
  }
  window.addEventListener("beforeprint", () => tellPaper(true));
  window.addEventListener("afterprint", () => tellPaper(false));
  window.matchMedia("print").addEventListener("change", (event) => tellPaper(event.matches));

  /** Calls `listener(is)` when the page goes to paper and comes back; returns what ends that. */
  function whenPrinting(listener) {
    onPaper.add(listener);
    return () => onPaper.delete(listener);
  }

  /** True while the page is printed: then all that was shut is open. */
  function usePrinting() {
    const [is, set] = useState(printing);
    hooks.useLayoutEffect(() => whenPrinting(set), []);
    return is;
  }

  /** A heading that opens and shuts; what is inside is only made when it is open, or printed. */
  function Fold({ title, open = false, children, extra, id }) {
    const [wanted, set] = useState(open);
    const shown = usePrinting() || wanted;
    return html`<section class=${shown ? "fold open" : "fold"} id=${id}>
      <h3><button type="button" class="fold-title" aria-expanded=${shown ? "true" : "false"} onClick=${() => set(!wanted)}>
        <span class="chevron" aria-hidden="true">›</span> ${title} ${extra && html`<span class="extra">${extra}</span>`}
      </button></h3>
      ${shown && html`<div class="fold-body">${children}</div>`}
    </section>`;
  }

  const CLAMP_LINES = 14;
  const CLAMP_CHARACTERS = 1600;

  /** A long text, shut to its first lines by style alone; the button says how much there is. */
  function Clamp({ text, children, always = false }) {
    const [open, set] = useState(false);
    const nLines = text.split("\n").length;
    const long = nLines > CLAMP_LINES + 4 || text.length > CLAMP_CHARACTERS + 400;
    if (always || !long) return html`<div class="text">${children}</div>`;
    return html`<div class=${open ? "text" : "text clamped"}>${children}</div>
      <button type="button" class="quiet" aria-expanded=${open ? "true" : "false"} onClick=${() => set(!open)}>
        ${open ? "show less" : `show all (${app.plural(nLines, "line")}, ${app.plural(text.length, "character")})`}
      </button>`;
  }

  const CutNote = ({ n, before, what = "character", many = what + "s" }) =>
    n ? html`<p class="note">${app.plural(n, what, many)} left out of this file${before ? ` (${app.count(before)} of them before what is shown)` : ""}; the run's own file holds them.</p>` : null;

  const Key = ({ children }) => html`<kbd>${children}</kbd>`;

  Object.assign(app, { CHANGES, tone, sideName, Badge, OutcomeBadge, Outcomes, Command, whenPrinting, usePrinting, Fold, Clamp, CutNote, Key });
})(window.harnessApp);
