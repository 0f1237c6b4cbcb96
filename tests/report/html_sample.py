"""Reports to look at and to test the page with: ``python -m tests.report.html_sample OUT.html [N_SCENARIOS]``.

Without a number: real runs of shipped scenarios (cancels, children, parallel calls, approvals, limits, retries,
streams) against a changed copy of them. With one: so many scenarios made by hand, of which three in ten differ.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from harness.compare import compare_runs
from harness.report.html import Asset, Assets, Context, page, shipped_assets
from harness.report.html.plots import plots_block
from harness.runner import ReviewOptions, review_paths
from harness.runner.review.reporting_html import html_report
from harness.runner.review.reviewing import without_gate
from harness.runner.review.side_by_side import side_by_side
from harness.types.codes import Outcome
from harness.types.events import Trajectory
from harness.types.records import RunSummary, ScenarioComparison, Verdict
from harness.types.review import Review
from tests.compare.made import ANSWERS, SYSTEM, refund_run, summary
from tests.house.source import REPO

PLACEHOLDER: Final = Assets(
    (
        Asset(
            "placeholder.js",
            "document.getElementById('app').textContent = document.getElementById('overview').textContent;",
        ),
    ),
    (Asset("placeholder.css", "#app { white-space: pre-wrap; }"),),
)
"""A page that shows its overview as it stands there, for tests of the data alone."""
SCENARIOS: Final = (
    "approval/allowed", "approval/denied-between-siblings", "approval/parked", "approval/rejected",
    "articles/limit-3", "articles/login-bug", "articles/long-result", "articles/product-646",
    "articles/sum-weather-umbrella", "articles/two-calls-one-step", "articles/weather",
    "cancellation/all-of-three-overlap", "cancellation/during-a-request", "cancellation/n11-stubborn-tool",
    "children/a-child-of-a-child", "children/a-stubborn-body-of-a-child", "children/two-in-parallel",
    "context/summed-up-by-a-model", "context/window", "failures/malformed-arguments",
    "failures/retry-after-a-rate-limit", "failures/throwing-tool", "failures/tool-timeout", "inbox/burst",
    "inbox/steered-while-tools-run", "limits/results-in-model-order", "limits/steps-1", "limits/two-tools-overlap",
    "streaming/arguments-in-fragments", "tool-work/another-tool-takes-over", "tool-work/composed-of-others",
    "tool-work/retried-when-idempotent",
)  # fmt: skip
CHANGES: Final = {
    "articles/weather": ("- call: {get_weather: {city: 北京}}", "- call: {get_weather: {city: 上海}}"),
    "articles/sum-weather-umbrella": ("等于 230。北京现在晴，24 度，不用带伞", "等于 231。请带伞"),
    "articles/login-bug": ("不修改任何东西。", "不修改任何东西。先看网络，再看文件。"),
    "articles/limit-3": ("limits: {steps: 3}", "limits: {steps: 2}"),
    "approval/rejected": ("{answer: reject, after_ms: 20}", "{answer: allow, after_ms: 20}"),
    "cancellation/all-of-three-overlap": ("when: {after_ms: 10}", "when: {after_ms: 30}"),
    "children/two-in-parallel": ("- say: another town", "- say: the other town, at length"),
    "context/window": ("last_messages: 3", "last_messages: 5"),
    "failures/malformed-arguments": ("expect:", "system: Be careful.\nexpect:"),
    "limits/two-tools-overlap": ("label: second", "label: another"),
    "streaming/arguments-in-fragments": ("say: It is 144.", "say: It is 145."),
}
"""What the changed copy says in place of what the shipped scenario says."""
MISSING: Final = "limits/steps-1"
NEW: Final = "tool-work/composed-of-others"


def folders(place: Path, names: Sequence[str] = SCENARIOS, *, trials: int = 2) -> tuple[Path, Path]:
    """Runs of the scenarios and of their changed copy, below ``place``."""
    for side in ("base", "candidate"):
        for name in names:
            if name == (MISSING if side == "candidate" else NEW):
                continue
            target = place / f"scenarios-{side}" / f"{name}.yaml"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(REPO / "scenarios" / f"{name}.yaml", target)
            if side == "candidate" and name in CHANGES:
                target.write_text(_changed(target.read_text("utf-8"), *CHANGES[name]), "utf-8")
        where = place / f"scenarios-{side}"
        command = [
            sys.executable,
            "-m",
            "harness",
            "run",
            str(where),
            "--out",
            str(place / side),
            "--trials",
            str(trials),
        ]
        done = subprocess.run(command, cwd=place, check=False, capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"the runs of the sample broke off: {done.stdout[-500:]} {done.stderr[-2000:]}")
    return place / "base", place / "candidate"


def _changed(text: str, old: str, new: str) -> str:
    if old not in text:
        raise LookupError(f"a shipped scenario no longer says {old!r}: change the sample")
    return text.replace(old, new, 1)


def sample(place: Path) -> bytes:
    """The report of the real runs."""
    base, candidate = folders(place)
    command = f"harness compare {base.name} {candidate.name}"
    return html_report(review_paths(base, candidate, ReviewOptions(command=command)))


def made_review(n: int) -> tuple[Review, dict[str, Trajectory], tuple[list[RunSummary], list[RunSummary]]]:
    """So many scenarios made by hand: their review, the candidates' runs that differ, the summaries of both sides."""
    look, _, say = ANSWERS
    others = [
        refund_run(answers=(look, ([("cancel_order", '{"id":7}')], None), say)),
        refund_run(system=SYSTEM + "\nNever refund twice.", answers=(look, say)),
        refund_run(results=('{"id":7,"total":1}', '{"id":8,"total":5}', "ok")),
    ]
    same = refund_run()
    names = [f"shop/scenario-{at:05}" for at in range(n)]
    loaded = {name: others[at % 3] if at % 10 < 3 else same for at, name in enumerate(names)}
    base = [_summary(name, at) for at, name in enumerate(names)]
    failed = {"outcome": Outcome.FAIL, "verdicts": (Verdict("pairing", Outcome.FAIL, why="made so"),)}
    candidate = [replace(_summary(name, at), **(failed if at % 20 == 1 else {})) for at, name in enumerate(names)]

    def load(side: str, run: RunSummary) -> Trajectory:
        return loaded[run.scenario] if side == "candidate" else same

    comparison = compare_runs(base, candidate, load, digest=lambda side, run: str(id(load(side, run))).encode())
    return Review(comparison, without_gate(comparison), "harness compare base candidate"), loaded, (base, candidate)


def _summary(name: str, at: int) -> RunSummary:
    return summary(name, cost_micro_usd=100 + at % 97, duration_ms=10 + at % 53, input_tokens=60 + at % 11)


def made_page(n: int, assets: Assets | None = None) -> bytes:
    """The report of so many scenarios made by hand."""
    review, loaded, sides = made_review(n)
    same = refund_run()

    def plots(rows: list[ScenarioComparison], contexts: list[Context]) -> dict[str, object]:
        return plots_block(review.comparison, rows, *sides, context=[one._asdict() for one in contexts])

    return page(
        review,
        lambda row: side_by_side(same, loaded[row.candidate.scenario], row),
        plots=plots,
        assets=assets,
    )


def main(arguments: list[str]) -> None:
    """Write the report."""
    out = Path(arguments[0])
    if len(arguments) > 1:
        data = made_page(int(arguments[1]))
    else:
        with tempfile.TemporaryDirectory() as place:
            data = sample(Path(place))
    out.write_bytes(data)
    sys.stderr.write(f"{out}: {len(data)} bytes, {len(shipped_assets().scripts)} scripts\n")


if __name__ == "__main__":
    main(sys.argv[1:])
