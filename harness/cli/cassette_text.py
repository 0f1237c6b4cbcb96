"""What ``harness cassettes`` says: tables for people, plain values for ``--json``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.cassettes.importing import Imported
    from harness.cassettes.library import Finding, Held
    from harness.cassettes.sorting import Sorted


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Columns under their names; what is foreign in them is made visible."""
    from harness.report.text import visible

    cells = [head, *(tuple(map(visible, row)) for row in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(head))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in cells
    )


# ---------------------------------------------------------------- list


def list_text(held: Sequence[Held], root: Path) -> str:
    """One line a cassette, and the totals."""
    from harness.report.text import counted

    head = ("cassette", "scenario", "model", "server", "date", "exchanges", "kB", "used")
    text = table(head, (_row(one, root) for one in held))
    n_bytes = sum(len(one.data) for one in held)
    return f"{text}\n\n{counted(len(held), 'cassette')}, {n_bytes / 1000:.1f} kB in {root}"


def _row(one: Held, root: Path) -> tuple[str, ...]:
    place, size = one.path.relative_to(root).as_posix(), f"{len(one.data) / 1000:.1f}"
    used = {None: "no", "": "?"}.get(one.user, "yes")
    if one.cassette is None:
        return place, "-", "-", "-", "-", "damaged", size, used
    about, n = one.about, str(len(one.cassette.exchanges))
    if about is None:
        return place, "-", "-", "-", "-", n, size, used
    whose = about.info.scenario or (f"imported: {about.imported.file}" if about.imported else "-")
    server = " ".join(filter(None, (about.host, f"({about.server})" if about.server else "")))
    return place, whose, about.model or "-", server or "-", about.info.recorded_at[:10] or "-", n, size, used


def list_value(held: Sequence[Held]) -> dict[str, Any]:
    """The same for ``--json``."""
    return {"cassettes": [_value(one) for one in held]}


def _value(one: Held) -> dict[str, Any]:
    value: dict[str, Any] = {"path": one.path.as_posix(), "bytes": len(one.data), "usedBy": one.user or None}
    value["used"] = None if one.user == "" else one.user is not None
    if one.cassette is None:
        return {**value, "error": one.error}
    value["exchanges"] = len(one.cassette.exchanges)
    about = one.about
    if about is None:
        return value
    value |= {"scenario": about.info.scenario or None, "model": about.model, "fingerprint": about.fingerprint}
    value |= {"server": about.server, "host": about.host, "recordedAt": about.info.recorded_at or None}
    if about.imported:
        value["importedFrom"] = {"file": about.imported.file, "sha256": about.imported.sha256}
    return value


# ---------------------------------------------------------------- audit


def audit_text(findings: Sequence[Finding], n_cassettes: int, *, scenarios_known: bool) -> str:
    """What was found, and what was looked at."""
    from harness.report.text import counted

    lines = [
        table(("trouble", "cassette", "what"), ((str(one.trouble), str(one.path), one.what) for one in findings)),
        "",
    ]
    counts = Counter(str(one.trouble) for one in findings)
    told = ", ".join(f"{n} {name}" for name, n in sorted(counts.items())) or "nothing is wrong"
    note = "" if scenarios_known else "; no scenarios here, so which are in use was not asked"
    return "\n".join([*(lines if findings else ()), f"{counted(n_cassettes, 'cassette')}: {told}{note}"])


def audit_value(findings: Sequence[Finding], n_cassettes: int) -> dict[str, Any]:
    """The same for ``--json``."""
    found = [{"trouble": str(one.trouble), "path": one.path.as_posix(), "what": one.what} for one in findings]
    return {"cassettes": n_cassettes, "findings": found}


# ---------------------------------------------------------------- import


def import_text(done: Sequence[Imported], out: Path, *, verbose: bool) -> str:
    """One line a file (with ``verbose`` one an exchange too), then how many of which kind."""
    from harness.report.text import counted

    lines = [line for one in done for line in _import_lines(one, verbose=verbose)]
    kinds = Counter((kind.verdict, kind.replays) for one in done for kind in one.exchanges)
    ordered = sorted(kinds.items(), key=lambda item: (not item[0][1], -item[1], item[0][0]))
    rows = ((name, str(n), "replays" if replays else "refused") for (name, replays), n in ordered)
    lines += ["", table(("kind", "exchanges", ""), rows)] if kinds else []
    n_whole = sum(one.target is not None for one in done)
    n_replay = sum(kind.replays for one in done if one.target for kind in one.exchanges)
    n_all = sum(len(one.exchanges) for one in done)
    unread = sum(bool(one.error) for one in done)
    last = f"{n_replay} of {n_all} exchanges in {counted(n_whole, 'cassette')} of {counted(len(done), 'file')}"
    lines += ["", f"{last}, in {out}" + (f"; {counted(unread, 'file')} not taken" if unread else "")]
    return "\n".join(lines)


def _import_lines(one: Imported, *, verbose: bool) -> Iterable[str]:
    from harness.report.text import visible

    if one.error:
        yield visible(f"    -  {one.error}")
        return
    n = sum(kind.replays for kind in one.exchanges)
    counts = Counter(kind.verdict for kind in one.exchanges)
    kinds = ", ".join(f"{name} {k}" if k > 1 else name for name, k in counts.items())
    yield visible(f"{n:>3}/{len(one.exchanges)}  {one.name}: {kinds}")
    for kind in one.exchanges if verbose else ():
        yield visible(f"        {kind.number:>2}  {_in_words(kind)}")


def _in_words(kind: Sorted) -> str:
    from harness.report.text import counted

    more = "; ".join(filter(None, (kind.why, counted(kind.n_calls, "call") if kind.n_calls else "", *kind.notes)))
    return f"{kind.verdict}: {more}" if more else kind.verdict


def import_value(done: Sequence[Imported]) -> dict[str, Any]:
    """The same for ``--json``."""
    return {"files": [_imported_value(one) for one in done]}


def _imported_value(one: Imported) -> dict[str, Any]:
    exchanges = [
        {
            "number": kind.number,
            "verdict": kind.verdict,
            "replays": kind.replays,
            "why": kind.why,
            "calls": kind.n_calls,
        }
        for kind in one.exchanges
    ]
    written = one.target.as_posix() if one.target else None
    return {"file": one.name, "written": written, "exchanges": exchanges, **({"error": one.error} if one.error else {})}
