"""A report that is open in a browser: what one does with it, and what it did that it must not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOCUSED_PAIR = "document.activeElement.closest('[data-pair]')?.dataset.pair ?? null"
FOCUSED_ROW = "document.activeElement.closest('[data-row]')?.dataset.row ?? null"


class Report:
    """``problems`` are requests beyond the file itself, messages of the console, errors, dialogs and further windows."""

    def __init__(self, context: Any, path: Path, route: str = "#/") -> None:
        self.context, self.path = context, path
        self.problems: list[str] = []
        context.set_default_timeout(10_000)
        self.page = context.new_page()
        context.on("page", lambda page: self.problems.append(f"a window: {page.url}"))
        self.page.on("request", self._asked)
        self.page.on("console", lambda message: self.problems.append(f"console: {message.text[:300]}"))
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {str(error)[:300]}"))
        self.page.on("dialog", self._dialog)
        self.go(route)

    def _asked(self, request: Any) -> None:
        if request.url.split("#")[0] != self.path.as_uri():
            self.problems.append(f"request: {request.url[:300]}")

    def _dialog(self, dialog: Any) -> None:
        self.problems.append(f"dialog: {dialog.message[:300]}")
        dialog.dismiss()

    def go(self, route: str) -> None:
        """Loads the file at a route, as a link from elsewhere does."""
        self.page.goto("about:blank")
        self.problems = [problem for problem in self.problems if problem != "request: about:blank"]
        self.page.goto(self.path.as_uri() + route)
        self.page.wait_for_selector("main")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
        self.settle()

    def settle(self) -> None:
        """Until what was asked for is drawn, and the focus stands where it goes a frame later."""
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0))))")

    def run(self, script: str, *arguments: Any) -> Any:
        return self.page.evaluate(script, *arguments)

    def text(self, selector: str) -> str:
        return str(self.page.locator(selector).first.inner_text())

    def texts(self, selector: str) -> list[str]:
        return list(self.page.locator(selector).all_inner_texts())

    def count(self, selector: str) -> int:
        return int(self.page.locator(selector).count())

    def names(self) -> list[str]:
        """Names of the runs that are in the page, from the top."""
        return list(self.page.locator(".run-rows .run-row .name a").all_text_contents())

    def listed(self) -> int:
        """How many runs the list says it shows."""
        return int(self.text(".listed strong").replace(",", ""))

    def hash(self, part: str) -> str:
        """The route in the address, once that has followed and holds the part (a moment later than what is drawn)."""
        self.page.wait_for_function("part => location.hash.includes(part)", arg=part)
        return str(self.run("location.hash"))

    def complained(self, word: str, frames: int = 300) -> bool:
        """True as soon as a problem with the word was noted, False where none was after so many frames."""
        for _ in range(frames):
            if any(word in problem for problem in self.problems):
                return True
            self.settle()
        return False

    def close(self) -> Iterator[str]:
        self.context.close()
        yield from (f"{self.path.name}: {problem}" for problem in self.problems)
