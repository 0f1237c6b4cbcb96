// The one global of the page's own code. Every other file adds to it and looks names up when called, so that
// their order does not matter between this first one and main.js.
(function () {
  "use strict";
  const { h, render, Fragment, createContext, Component } = window.preact;
  const html = window.htm.bind(h);

  // What reading this page is about: filled by data.js and main.js.
  window.harnessApp = { html, h, render, Fragment, createContext, Component, hooks: window.preactHooks };
})();
