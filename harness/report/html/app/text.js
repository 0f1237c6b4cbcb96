// Text of runs is hostile until shown: it goes into the page as text nodes only, and what a reader could not see
// (controls, marks that turn the direction of writing, tag characters) is drawn as its code.
(function (app) {
  "use strict";
  const { html } = app;

  // The list of UNSEEN in report/text.py, but for newline and tab: what emoji are made with (U+200D, U+FE0E/F) stays.
  const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}\u{1fffe}\u{1ffff}\u{2fffe}\u{2ffff}\u{3fffe}\u{3ffff}\u{4fffe}\u{4ffff}\u{5fffe}\u{5ffff}\u{6fffe}\u{6ffff}\u{7fffe}\u{7ffff}\u{8fffe}\u{8ffff}\u{9fffe}\u{9ffff}\u{afffe}\u{affff}\u{bfffe}\u{bffff}\u{cfffe}\u{cffff}\u{dfffe}\u{dffff}\u{efffe}\u{effff}\u{ffffe}\u{fffff}\u{10fffe}\u{10ffff}]/u;
  // Here, where there is room to say so, also what looks like a space or like nothing and is no space.
  const UNREADABLE = new RegExp(`${HIDDEN.source}|[\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u2800\\u3000]`, "u");
  const UNREADABLE_RUNS = new RegExp(`(${UNREADABLE.source})`, "u");

  function code(character) {
    return "U+" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
  }

  /** Anything as text: what is not a string is written as JSON, never handed to the page as it is. */
  function plain(value) {
    if (value === null || value === undefined) return "";
    if (typeof value === "string") return value;
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    return JSON.stringify(value, null, 2);
  }

  /** One line for labels and titles: hidden characters as their code, white space folded. */
  function label(value, atMost = 200) {
    const text = plain(value).slice(0, atMost * 4).replace(/[ \t\n\r\f\v]+/gu, " ");
    // Nearly all labels are plain, and a list makes hundreds of them at each key that is pressed.
    if (text.length <= atMost && !UNREADABLE.test(text)) return text;
    const shown = Array.from(text, (one) => (UNREADABLE.test(one) ? `⟨${code(one)}⟩` : one));
    return shown.length > atMost ? shown.slice(0, atMost - 1).join("") + "…" : shown.join("");
  }

  /** The text in full, hidden characters drawn as small boxes. */
  function Text({ value }) {
    const text = plain(value);
    if (!UNREADABLE.test(text)) return text;
    return text.split(UNREADABLE_RUNS).map((piece) => {
      if (!UNREADABLE.test(piece)) return piece;
      return html`<span class="hidden-character" title="hidden character">${code(piece)}</span>`;
    });
  }

  /** The text of a message's content: a string, or parts of which those with a text are told apart from others. */
  function contentText(content) {
    if (!Array.isArray(content)) return plain(content);
    return content.map(partText).join("\n");
  }

  function partText(part) {
    if (part === null || typeof part !== "object") return plain(part);
    if (typeof part.text === "string") return part.text;
    if (part.type === "image") return `[image ${plain(part.mediaType)} ${plain(part.digest)}]`;
    if (part.type === "other") return plain(part.json);
    return plain(part);
  }

  Object.assign(app, { plain, label, Text, contentText });
})(window.harnessApp);
