"""A review as JUnit XML: a test case for each scenario (and arm), failing where the gate makes it fail.

Written with ElementTree. Every text is made visible first, since ElementTree writes characters that XML 1.0 forbids
as they are, and its own output then parses nowhere (case PB-045).
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Final
from xml.etree import ElementTree as Xml

from harness.folds import row_scenario
from harness.report.comparison import change_line, counts_text, side
from harness.report.fates import Fate, Row, beside_rows, is_gated, rows_of, shown_name
from harness.report.text import counted, distinct, piece, visible
from harness.report.unpassed import bad_verdicts, of_trials, unpassed, unpassed_text
from harness.types.codes import Change, Outcome
from harness.types.records import RunSummary
from harness.types.review import GateSource, Review, Revision, SourceLine

SUITE: Final = "harness compare"
_FINDINGS: Final = 10
_CHARS: Final = 1_000
_BODY_CHARS: Final = 6_000
"""So that thousands of long failures are a file that a server still takes."""
_UNGROUPED: Final = "scenarios"


def junit_xml(review: Review) -> bytes:
    """The document in UTF-8: one suite; ``failures`` and ``errors`` together are what the gate lets fail.

    What fails and is no scenario's (cost, a comparison of nothing) is a case of the class ``gate``, so that the file
    is green where the verdict is PASS, and nowhere else. Times are in seconds, of the candidate's shown trial.
    """
    rows = rows_of(review)
    sources = {source.scenario: source for source in review.sources}
    cases = [_case(row, sources) for row in rows]
    cases += [_beside(name, outcome, why) for name, outcome, why in beside_rows(review, rows)]
    suite = Xml.Element("testsuite", {"name": SUITE, **_counts(cases, rows)})
    properties = Xml.SubElement(suite, "properties")
    for name, value in _facts(review):
        Xml.SubElement(properties, "property", {"name": name, "value": visible(value)})
    suite.extend(cases)
    root = Xml.Element("testsuites", {"name": SUITE, **_counts(cases, rows)})
    root.append(suite)
    Xml.indent(root, " ")
    written = io.BytesIO()
    Xml.ElementTree(root).write(written, encoding="utf-8", xml_declaration=True)
    return written.getvalue() + b"\n"


def _counts(cases: list[Xml.Element], rows: list[Row]) -> dict[str, str]:
    n = {name: sum(case.find(tag) is not None for case in cases) for name, tag in _TAGS}
    return {"tests": str(len(cases)), **{name: str(count) for name, count in n.items()}, "time": _seconds(_ms(rows))}


_TAGS: Final = (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))


def _ms(rows: list[Row]) -> int:
    return sum(row.scenario.candidate.duration_ms or 0 for row in rows if row.scenario.candidate)


def _seconds(ms: int) -> str:
    return f"{ms // 1000}.{ms % 1000:03d}"


def _facts(review: Review) -> Iterator[tuple[str, str]]:
    """Properties of the suite: a fixed list, whatever is known."""
    comparison = review.comparison
    yield "verdict", f"{review.outcome}: {review.verdict.text}"
    verdict = review.verdict
    yield "gate", f"{verdict.source} {verdict.file}".strip() if is_gated(verdict) else GateSource.NONE
    yield "gate.note", verdict.note
    yield "counts", counts_text(comparison)
    yield "base", comparison.base
    yield "base.commit", _commit(review.base_revision)
    yield "candidate", comparison.candidate
    yield "candidate.commit", _commit(review.candidate_revision)
    yield "merge-base", review.merge_base or ""
    for name, counted_side in (("base", comparison.base_side), ("candidate", comparison.candidate_side)):
        yield f"{name}.models", ", ".join(counted_side.models) if counted_side else ""
        yield f"{name}.skipped", str(counted_side.skipped if counted_side else 0)
    yield "command", review.command


def _commit(revision: Revision) -> str:
    return f"{revision.commit or ''}{' and changes that are not committed' if revision.dirty else ''}"


# ---------------------------------------------------------------- cases


def _case(row: Row, sources: dict[str, SourceLine]) -> Xml.Element:
    scenario = row.scenario
    name = row_scenario(scenario)
    attributes = {
        "name": shown_name(scenario) or "?",
        "classname": distinct(name.rpartition("/")[0]) or _UNGROUPED,
        "time": _seconds((scenario.candidate.duration_ms or 0) if scenario.candidate else 0),
    }
    source = sources.get(name)
    if source:
        attributes |= {"file": visible(source.file), "line": str(source.line)}
    case = Xml.Element("testcase", attributes)
    body = _cut(_body(row))
    if row.fails or row.fate in (Fate.HELD, Fate.UNDECIDED):
        _result(case, _RESULTS[row.fate], _message(row), scenario.change, body)
    elif row.fate is Fate.WARNED or scenario.change != Change.SAME:
        Xml.SubElement(case, "system-out").text = f"{_message(row)}\n{body}"
    return case


_RESULTS: Final = {
    Fate.FAILED: "failure",
    Fate.ERRORED: "error",
    Fate.HELD: "skipped",
    Fate.UNDECIDED: "skipped",
}


def _result(case: Xml.Element, tag: str, message: str, kind: str, body: str) -> None:
    """A skipped case has no body of its own in this dialect: what it was stands beside it."""
    if tag == "skipped":
        Xml.SubElement(case, tag, {"message": message})
        Xml.SubElement(case, "system-out").text = body
    else:
        Xml.SubElement(case, tag, {"message": message, "type": visible(kind)}).text = body


def _message(row: Row) -> str:
    scenario = row.scenario
    line = change_line(scenario)
    said = [line.cause or line.remark or scenario.change]
    bad = [unpassed_text(one, scenario) for one in unpassed(scenario)[:1]]
    if scenario.change == Change.SAME:
        said = bad or ["same"]
    elif line.cause and row.fails:
        said += bad
    if row.broken:
        said.append(f"rule {', '.join(row.broken)}")
    if row.fate is Fate.HELD and row.quarantine:
        held = ", ".join(row.held)
        said.insert(0, f"in quarantine until {row.quarantine.until}: {row.quarantine.why} (held: {held})")
    if row.warned:
        said.append(f"warned of {', '.join(row.warned)}")
    return piece("; ".join(said), _CHARS)


def _cut(lines: Iterator[str]) -> str:
    """Whole lines up to a size, and how many more there are."""
    kept: list[str] = []
    room = _BODY_CHARS
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            return "\n".join([*kept, f"and {counted(1 + sum(1 for _ in lines), 'line')} more"])
        kept.append(line)
    return "\n".join(kept)


def _body(row: Row) -> Iterator[str]:
    """Lines of which each is one, whatever was said."""
    scenario = row.scenario
    line = change_line(scenario)
    yield f"{scenario.change}: {visible(line.name)}"
    if line.has_sides:
        yield f"{piece(line.where, _CHARS)}: {side(line.base, _CHARS)} → {side(line.candidate, _CHARS)}"
    if line.cause:
        yield f"cause: {piece(line.cause, _CHARS)}"
    if line.remark and scenario.change != Change.SAME:
        yield piece(line.remark, _CHARS)
    yield from of_trials(scenario)
    for name, run in (("base", scenario.base), ("candidate", scenario.candidate)):
        if run:
            steps, time = counted(run.n_steps, "step"), "" if run.duration_ms is None else f", {run.duration_ms} ms"
            yield f"{name}: {run.outcome}, {piece(run.reason, _CHARS)}, {steps}{time}, {piece(run.file, _CHARS)}"
            yield from _findings(run)


def _findings(run: RunSummary) -> Iterator[str]:
    for verdict in bad_verdicts(run):
        yield f"  {verdict.outcome} {piece(verdict.check)}" + (f": {piece(verdict.why, _CHARS)}" if verdict.why else "")
        yield from (f"    {piece(finding.message, _CHARS)}" for finding in verdict.findings[:_FINDINGS])
        if len(verdict.findings) > _FINDINGS:
            yield f"    and {counted(len(verdict.findings) - _FINDINGS, 'finding')} more"


def _beside(name: str, outcome: Outcome, why: str) -> Xml.Element:
    case = Xml.Element("testcase", {"name": visible(name), "classname": "gate", "time": "0.000"})
    tag = "failure" if outcome is Outcome.FAIL else "error"
    _result(case, tag, piece(why, _CHARS), outcome, visible(why))
    return case
