// Light or dark: what the system prefers, until the reader chooses. A choice is kept where the browser lets a file keep one.
(function (app) {
  "use strict";
  const KEY = "harness-report-theme";
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

  function kept() {
    try {
      return window.localStorage.getItem(KEY);
    } catch {
      return null; // storage is shut off for files in some browsers: the system's choice holds then
    }
  }

  function keep(theme) {
    try {
      window.localStorage.setItem(KEY, theme);
    } catch {
      return; // as above: the choice holds until the page is closed
    }
  }

  let chosen = kept();

  function apply() {
    const dark = chosen ? chosen === "dark" : prefersDark.matches;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
  }

  function toggleTheme() {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    keep(chosen);
    apply();
    window.dispatchEvent(new Event("harness-theme"));
  }

  prefersDark.addEventListener("change", apply);
  apply();

  Object.assign(app, { toggleTheme });
})(window.harnessApp);
