// The one global of the page's own code. Every other file adds to it and looks names up when called, so that
// their order does not matter between this first one and main.js.
(function () {
  "use strict";
  const { h, render, Fragment, createContext, Component } = window.preact;
  const html = window.htm.bind(h);

  /** A table that words from data may be looked up in: it has no `constructor`, no `__proto__`. */
  const table = (entries) => Object.assign(Object.create(null), entries);

  window.harnessApp = { table, html, h, render, Fragment, createContext, Component, hooks: window.preactHooks };
})();
