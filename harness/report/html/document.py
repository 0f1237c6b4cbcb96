"""The one file: a policy, an empty page, data that is no markup, then the scripts that show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from harness.errors import InvalidValueError
from harness.report.fates import Row
from harness.report.html.assets import Assets, policy_of, shipped_assets
from harness.report.html.cutting import ROOMS, Plain
from harness.report.html.details import detail_plain
from harness.report.html.embed import json_block, json_bytes
from harness.report.html.plot_context import context_side
from harness.report.html.plots import PLOT_STYLE
from harness.report.html.rows import ROW_CHARS, by_interest, overview_plain, row_plain
from harness.types.aligned import AlignedRuns, LoadAligned
from harness.types.records import ScenarioComparison
from harness.types.review import Review

TITLE: Final = "Comparison report"
NO_SCRIPT: Final = "This report is shown by a script inside this file, and scripts are turned off here."
_ROW_OVERHEAD: Final = 24
_ASSEMBLY_BYTES: Final = 20_000
_MISSES: Final = 8
"""So many rows in a row that have no room end the search for one that has: each must be read to know it."""


class Context(NamedTuple):
    """What the model was shown at each step of a row in full, as :func:`context_side` tells it (None: not asked)."""

    detail: int
    row: int
    base: Plain | None
    candidate: Plain | None


Plots: TypeAlias = Callable[[Sequence[ScenarioComparison], Sequence[Context]], Plain]
"""Makes the block ``plots`` of the rows in their order and the contexts of those in full."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a file may hold. ``n_bytes`` is kept whatever the data; all rows are listed up to ``n_rows``.

    Texts of rows are cut to list at least ``n_listed`` of them within ``row_bytes``.
    """

    n_rows: int = 5_000
    n_listed: int = 2_000
    n_details: int = 500
    n_bytes: int = 24_500_000
    row_bytes: int = 15_000_000
    detail_bytes: int = 6_000_000


def page(
    review: Review,
    details: LoadAligned | None = None,
    *,
    plots: Plots | None = None,
    limits: Limits = Limits(),
    assets: Assets | None = None,
) -> bytes:
    """The report as one HTML file that needs nothing else (below 25 MB, RELIABILITY P6).

    ``details`` reads the runs behind a row, one row at a time; None: no row is told in full. All rows are listed up
    to ``limits``, the most interesting first, and of these as many as there is room for are told in full. Raises what
    ``details`` raises, and InvalidValueError where rows and plots alone are beyond ``limits.n_bytes``.
    """
    made = _Made(review, limits)
    shell = _shell(assets or shipped_assets())
    # Plots are made last, of what is told in full, but their bytes must be kept free before that.
    reserved = len(json_block("plots", plots(made.rows, ()))) if plots else 0
    room = limits.n_bytes - sum(map(len, shell)) - made.n_bytes - reserved - _ASSEMBLY_BYTES
    blocks = list(made.details(details, room)) if details is not None else []
    tail = [json_block("plots", plots(made.rows, made.contexts))] if plots else []
    data = b"".join([shell[0], json_block("overview", made.overview()), *blocks, *tail, shell[1]])
    if len(data) > limits.n_bytes:
        raise InvalidValueError(
            f"The page would have {len(data):,} bytes, of which rows {made.n_bytes:,} and plots {reserved:,}; it may "
            f"have {limits.n_bytes:,}. Compare fewer scenarios, or take away what lies beside the runs."
        )
    return data


class _Made:
    """Rows of a page, and the details that were made of them so far."""

    def __init__(self, review: Review, limits: Limits) -> None:
        self.review, self.limits = review, limits
        self.rows: list[ScenarioComparison] = []
        self.plain: list[Plain] = []
        self.n_bytes = 0
        self.contexts: list[Context] = []
        self.why = ""
        rows = by_interest(review)[: limits.n_rows]
        for n_chars in ROW_CHARS:
            n_listed = self._list(rows, n_chars)
            if n_listed >= min(len(rows), limits.n_listed):
                break

    def _list(self, rows: Sequence[Row], n_chars: int) -> int:
        """List the rows that fit, with so many characters of each text; returns how many they are."""
        self.rows, self.plain, self.n_bytes = [], [], len(json_bytes(overview_plain(self.review, ())))
        for row in rows:
            plain = row_plain(row, n_chars)
            n_bytes = len(json_bytes(plain)) + _ROW_OVERHEAD
            if self.n_bytes + n_bytes > self.limits.row_bytes:
                break
            self.rows.append(row.scenario)
            self.plain.append(plain)
            self.n_bytes += n_bytes
        return len(self.rows)

    def details(self, load: LoadAligned, room: int) -> Iterator[bytes]:
        """Blocks of rows in full, most interesting first; one that does not fit is cut, or left out."""
        n_misses = 0
        for at, row in enumerate(self.rows):
            if len(self.contexts) == self.limits.n_details:
                self.why = self.why or "number"
                return
            if room <= 0 or n_misses == _MISSES:
                self.why = "size"
                return
            runs = load(row)
            number = len(self.contexts)
            context = Context(number, at, *(_context(runs, name) for name in ("base", "candidate")))
            n_more = len(json_bytes([context.base, context.candidate])) + _ROW_OVERHEAD
            block = _detail(row, at, number, runs, min(room - n_more, self.limits.detail_bytes))
            if block is None:
                self.why = "size"
                n_misses += 1
                continue
            n_misses = 0
            room -= len(block) + n_more
            self.contexts.append(context)
            self.plain[at]["detail"] = number
            yield block

    def overview(self) -> Plain:
        """The block of all rows, as they are now."""
        made = overview_plain(self.review, self.plain)
        return {
            **made,
            "nDetails": len(self.contexts),
            "detailsLeftOut": {"n": len(self.plain) - len(self.contexts), "why": self.why},
        }


def _context(runs: AlignedRuns, name: str) -> Plain | None:
    side = runs.base if name == "base" else runs.candidate
    return context_side(side.trajectory) if side is not None else None


def _detail(row: ScenarioComparison, at: int, number: int, runs: AlignedRuns, room: int) -> bytes | None:
    """The block in the first size that fits; None where none does."""
    for size in ROOMS:
        if room <= 0:
            return None
        block = json_block(f"detail-{number}", detail_plain(row, at, runs, size))
        if len(block) <= room:
            return block
    return None


def _shell(assets: Assets) -> tuple[bytes, bytes]:
    """What stands before and behind the data: the same bytes whatever the data."""
    scripts = " ".join(asset.policy for asset in assets.scripts)
    styles = " ".join([*(asset.policy for asset in assets.styles), policy_of(PLOT_STYLE)])
    policy = (
        f"default-src 'none'; script-src {scripts or chr(39) + 'none' + chr(39)}; style-src {styles}; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    head = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
        '<meta name="referrer" content="no-referrer">\n',
        f"<title>{TITLE}</title>\n",
        *(f"<style>{asset.text}</style>\n" for asset in assets.styles),
        f'</head>\n<body>\n<div id="app"></div>\n<noscript>{NO_SCRIPT}</noscript>\n',
    ]
    tail = [*(f"<script>{asset.text}</script>\n" for asset in assets.scripts), "</body>\n</html>\n"]
    return "".join(head).encode(), "".join(tail).encode()
