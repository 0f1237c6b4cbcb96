"""Goal posts: what a change moves beside what is judged, told with what it was and what it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ConfigurationError
from harness.runner.bases.repository import Repository, RepositoryError
from harness.runner.review.document_changes import case_changes, changes_of
from harness.runner.review.gate_texts import gate_text
from harness.runner.review.goal_posts import Moved, moved_since
from harness.types.review import GateSource, GoalPost, PostKind
from tests.cli.shop import Shop, built

SCENARIO = """\
format: harness-scenario/1
task: x
script: [{say: a}, {say: b}]
limits: {steps: 10, tool_calls: 3}
checks: [my:rule, my:other]
tools: {use: [look, pay], allowed: [look]}
agents:
  helper: {description: Helps., limits: {steps: 3}}
  other: {description: Helps too.}
tool_policy: {failure: {retries: 0}, tools: {look: {timeout_ms: 50}}}
policy: {read_only: true}
retry: {attempts: 2}
models: {fallback: {script: [{say: c}], allow_leftovers: false}}
expect: {status: completed, calls: [look]}
"""
EVALUATION = """\
format: harness-evaluation/1
id: e
tools: {schemas: []}
trials: 5
running: {max_cost_usd: 1, at_once: 2}
gate: {metric: accuracy, margin: 0.05, base: a, candidate: b}
cases:
  - {id: one, ask: a, expect: look}
  - {id: two, ask: b, expect: look}
"""
FILES = {
    "scenarios/a.yaml": SCENARIO,
    "scenarios/b.yaml": SCENARIO.replace("task: x", "task: another one") + "title: " + "long " * 40 + "\n",
    "evaluations/e.yaml": EVALUATION,
    "evaluations/cases.jsonl": '{"id":"one","ask":"a","expect":"look"}\n{"id":"two","ask":"b","expect":"look"}\n',
    "notes.yaml": "limits: {steps: 3}\n",
    "gate.yaml": "format: harness-gate/1\nexact: {missing: fail}\n",
    "pyproject.toml": '[tool.harness]\nscenarios = ["scenarios"]\ncassettes = "tapes"\n[tool.other]\nx = 1\n',
    "tapes/a/m.yaml": "interactions: []\n",
    "cassettes/a/m.yaml": "interactions: []\n",
    "reports/baselines/a/1.jsonl": "{}\n",
    "data/rows.jsonl": '{"a":1}\n',
}
NO_BYTES = "/proc/self/mem"
"""A file whose first byte nobody may read."""
Edit = Callable[[Shop], object]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """A project in a subfolder of its repository, on a branch of its own."""
    shop = built(tmp_path / "repo", "in/side", FILES)
    shop.git("checkout", "-q", "-b", "change")
    monkeypatch.chdir(shop.folder)
    return shop


def moved(gate: str | None = "gate.yaml") -> Moved:
    return moved_since(Repository.at(Path()), "main", None if gate is None else Path(gate))


def edit(name: str, old: str, new: str) -> Edit:
    return lambda shop: shop.edit(name, old, new)


def write(name: str, text: str) -> Edit:
    return lambda shop: shop.write(name, text)


def gone(name: str) -> Edit:
    return lambda shop: (shop.folder / name).unlink()


A, E = "scenarios/a.yaml", "evaluations/e.yaml"
MOVED = [
    pytest.param(edit(A, "steps: 10", "steps: 40"), PostKind.LIMIT, A, "limits.steps: 10 → 40", id="limit"),
    pytest.param(edit(A, ", tool_calls: 3", ""), PostKind.LIMIT, A, "limits.tool_calls: 3 → nothing", id="limit-gone"),
    pytest.param(edit(A, "limits: {steps: 3}", "limits: {steps: 30}"), PostKind.LIMIT, A, "agents.helper.limits.steps: 3 → 30", id="limit-of-an-agent"),
    pytest.param(edit(A, "Helps., limits: {steps: 3}", "Helps."), PostKind.LIMIT, A, "agents.helper.limits.steps: 3 → nothing", id="limit-of-an-agent-gone"),
    pytest.param(edit(A, "Helps too.", "Helps too., limits: {steps: 90}"), PostKind.LIMIT, A, "agents.other.limits.steps: nothing → 90", id="limit-of-an-agent-new"),
    pytest.param(edit(A, "retries: 0", "retries: 9"), PostKind.LIMIT, A, "tool_policy.failure.retries: 0 → 9", id="retries-of-tools"),
    pytest.param(edit(A, "timeout_ms: 50", "timeout_ms: 500"), PostKind.LIMIT, A, "tool_policy.tools.look.timeout_ms: 50 → 500", id="timeout-of-a-tool"),
    pytest.param(edit(A, "read_only: true", "read_only: false"), PostKind.LIMIT, A, "policy.read_only: true → false", id="policy"),
    pytest.param(edit(A, "attempts: 2", "attempts: 5"), PostKind.LIMIT, A, "retry.attempts: 2 → 5", id="attempts"),
    pytest.param(edit(A, "allowed: [look]", "allowed: [look, pay]"), PostKind.LIMIT, A, 'tools.allowed: ["look"] → ["look","pay"]', id="allowed-tools"),
    pytest.param(edit(A, "allow_leftovers: false", "allow_leftovers: true"), PostKind.EXPECTATION, A, "models.fallback.allow_leftovers: false → true", id="leftovers-of-a-role"),
    pytest.param(edit(E, "max_cost_usd: 1", "max_cost_usd: 100"), PostKind.EVALUATION, E, "running.max_cost_usd: 1 → 100", id="cost-of-an-evaluation"),
    pytest.param(edit(A, "completed", "failed"), PostKind.EXPECTATION, A, "expect.status: completed → failed", id="expectation"),
    pytest.param(edit(A, "calls: [look]", "calls: [look, look]"), PostKind.EXPECTATION, A, 'expect.calls: ["look"] → ["look","look"]', id="calls"),
    pytest.param(edit(A, "my:other", "my:easy"), PostKind.CHECK, A, "checks[1]: my:other → my:easy", id="check"),
    pytest.param(edit(A, "task: x", "skip: later\ntask: x"), PostKind.SCENARIO, A, "skip: nothing → later", id="skipped"),
    pytest.param(edit(A, "task: x", "id: c\ntask: x"), PostKind.SCENARIO, A, "id: nothing → c", id="another-id"),
    pytest.param(gone(A), PostKind.SCENARIO, A, "deleted", id="scenario-deleted"),
    pytest.param(edit(A, "harness-scenario/1", "other/1"), PostKind.SCENARIO, A, "is no scenario any more", id="no-scenario-any-more"),
    pytest.param(edit(E, "0.05", "0.5"), PostKind.EVALUATION, E, "gate.margin: 0.05 → 0.5", id="margin"),
    pytest.param(edit(E, "trials: 5", "trials: 1"), PostKind.EVALUATION, E, "trials: 5 → 1", id="trials"),
    pytest.param(edit(E, "  - {id: two, ask: b, expect: look}\n", ""), PostKind.EVALUATION, E, "cases: 1 removed", id="case-removed"),
    pytest.param(edit(E, "ask: b", "ask: c"), PostKind.EVALUATION, E, "cases: 1 changed", id="case-changed"),
    pytest.param(gone(E), PostKind.EVALUATION, E, "deleted", id="evaluation-deleted"),
    pytest.param(edit("evaluations/cases.jsonl", '"b"', '"c"'), PostKind.EVALUATION, "evaluations/cases.jsonl", "cases: 1 changed", id="file-of-cases"),
    pytest.param(edit("gate.yaml", "missing: fail", "missing: pass"), PostKind.GATE, "gate.yaml", "exact.missing: fail → pass", id="gate"),
    pytest.param(gone("gate.yaml"), PostKind.GATE, "gate.yaml", "deleted", id="gate-deleted"),
    pytest.param(edit("pyproject.toml", '"tapes"', '"others"'), PostKind.SETTING, "pyproject.toml", "tool.harness.cassettes: tapes → others", id="setting"),
    pytest.param(write("tapes/a/m.yaml", "x: 1\n"), PostKind.CASSETTE, "tapes/a/m.yaml", "edited", id="cassette"),
    pytest.param(gone("cassettes/a/m.yaml"), PostKind.CASSETTE, "cassettes/a/m.yaml", "deleted", id="cassette-deleted"),
    pytest.param(write("reports/baselines/a/1.jsonl", "x"), PostKind.BASELINE, "reports/baselines/a/1.jsonl", "edited", id="baseline"),
    pytest.param(write("reports/baselines/a/2.jsonl", "x"), PostKind.BASELINE, "reports/baselines/a/2.jsonl", "added", id="baseline-added"),
    pytest.param(write(A, SCENARIO + "\t: ]"), PostKind.SCENARIO, A, "is no scenario any more", id="scenario-damaged"),
    pytest.param(edit(A, "read_only: true", "read_only: 1"), PostKind.LIMIT, A, "policy.read_only: true → 1", id="another-type"),
    pytest.param(edit(A, "calls: [look]", "calls: [[1, {x: 2}]]"), PostKind.EXPECTATION, A, 'expect.calls[0]: look → [1,{"x":2}]', id="another-shape"),
    pytest.param(edit("evaluations/cases.jsonl", '"expect":"look"}\n{', '"expect":NaN}\n{'), PostKind.EVALUATION, "evaluations/cases.jsonl", "cases: 2 removed", id="cases-that-are-no-json"),
    pytest.param(edit("pyproject.toml", "[tool.other]", "note = 2024-01-01\n[tool.other]"), PostKind.SETTING, "pyproject.toml", "tool.harness.note: nothing → 2024-01-01", id="a-date-in-the-settings"),
    pytest.param(edit("pyproject.toml", "[tool.other]", "note = [nan]\n[tool.other]"), PostKind.SETTING, "pyproject.toml", "tool.harness.note: nothing → [nan]", id="nan-in-the-settings"),
    pytest.param(edit("pyproject.toml", '"tapes"', '"tapes"\nx' + ".x" * 5000 + " = 1"), PostKind.SETTING, "pyproject.toml", "tool.harness: edited, and nested too deep to tell where", id="settings-too-deep-to-tell"),
    pytest.param(write("evaluations/e.yaml", EVALUATION.replace("cases:", "cases: 1\nx:")), PostKind.EVALUATION, E, 'cases: [{"ask":"a","expect":"look","id":"one"},{"ask":"b","expect":… → 1', id="no-list-of-cases"),
]


@pytest.mark.parametrize(("change", "kind", "file", "detail"), MOVED)
@pytest.mark.parametrize("committed", [True, False], ids=["committed", "in-the-work-tree"])
def test_a_goal_post_that_moves_is_told(
    change: Edit, kind: PostKind, file: str, detail: str, committed: bool, shop: Shop
) -> None:
    change(shop)
    if committed:
        shop.commit()
    assert moved().posts == (GoalPost(kind, file, detail),)


STILL = [
    pytest.param(edit(A, "task: x", "task: y"), id="what-is-asked"),
    pytest.param(edit(A, "{say: b}", "{say: d}"), id="the-script"),
    pytest.param(edit(A, "  other: {description: Helps too.}", "  third: {description: Helps too., limits: {steps: 5}}"), id="an-agent-and-another-agent"),
    pytest.param(edit(A, "Helps too.", "Helps much."), id="what-an-agent-is-told"),
    pytest.param(edit(A, "use: [look, pay]", "use: [look]"), id="the-tools"),
    pytest.param(edit(E, "at_once: 2", "at_once: 8"), id="how-fast-an-evaluation-runs"),
    pytest.param(write("scenarios/new.yaml", SCENARIO), id="a-new-scenario"),
    pytest.param(write("evaluations/new.yaml", EVALUATION), id="a-new-evaluation"),
    pytest.param(edit(E, "cases:\n", "cases:\n  - {id: three, ask: c, expect: look}\n"), id="a-case-more"),
    pytest.param(write("tapes/b/m.yaml", "x: 1\n"), id="a-new-recording"),
    pytest.param(edit("notes.yaml", "3", "4"), id="a-document-of-somebody-else"),
    pytest.param(edit("data/rows.jsonl", "1", "2"), id="lines-of-somebody-else"),
    pytest.param(edit("pyproject.toml", "x = 1", "x = 2"), id="settings-of-somebody-else"),
    pytest.param(write("src/x.py", "x = 1\n"), id="code"),
    pytest.param(write("nightly.yaml", "format: harness-gate/1\n"), id="a-new-gate-that-judges-nothing"),
    pytest.param(write("evaluations/more.jsonl", FILES["evaluations/cases.jsonl"]), id="a-new-file-of-cases"),
]


@pytest.mark.parametrize("change", STILL)
def test_what_is_no_goal_post_is_not_told(change: Edit, shop: Shop) -> None:
    change(shop)
    found = moved()
    assert found.posts == ()
    assert len(found.changed) == 1


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        pytest.param({"x": 1}, {"x": True}, ["x: 1 → true"], id="number-and-truth"),
        pytest.param([{"x": [0]}], [{"x": [False]}], ["[0].x[0]: 0 → false"], id="deep-in-lists"),
        pytest.param({"x": 1}, {"x": 1.0}, ["x: 1 → 1.0"], id="two-spellings-of-a-number"),
        pytest.param([[1]], [[True], 2], [": [[1]] → [[true],2]"], id="lists-of-other-lengths"),
        pytest.param({"x": float("nan")}, {"x": float("nan")}, [], id="nan-twice"),
        pytest.param({"x": [{}]}, {"x": [{}]}, [], id="nothing"),
        pytest.param({"x": 16**9000}, {"x": 1}, ["x: a number too large to tell → 1"], id="a-number-too-large"),
    ],
)
def test_values_that_python_takes_for_equal_are_told_apart(before: Any, now: Any, told: list[str]) -> None:
    assert list(changes_of(before, now)) == told


def test_a_case_whose_expectation_changes_its_type_only_is_changed() -> None:
    cases = [{"id": "a", "ask": "q", "expect": {"n": 1}}], [{"id": "a", "ask": "q", "expect": {"n": True}}]
    assert case_changes(*cases) == "cases: 1 changed"
    assert case_changes({"n": 1}, {"n": True}) == "cases.n: 1 → true"


def test_settings_that_cannot_be_read_are_gone(shop: Shop) -> None:
    shop.edit("pyproject.toml", '"tapes"', "[" * 3000)
    assert {post.detail for post in moved().posts} == {
        'tool.harness.scenarios: ["scenarios"] → nothing', "tool.harness.cassettes: tapes → nothing"
    }  # fmt: skip


UNREADABLE = [
    pytest.param(A, PostKind.SCENARIO, id="scenario"),
    pytest.param(E, PostKind.EVALUATION, id="evaluation"),
    pytest.param("evaluations/cases.jsonl", PostKind.EVALUATION, id="cases"),
    pytest.param("gate.yaml", PostKind.GATE, id="gate"),
    pytest.param("pyproject.toml", PostKind.SETTING, id="settings"),
    pytest.param("notes.yaml", None, id="a-document-of-somebody-else"),
    pytest.param("evaluations/new.jsonl", None, id="what-is-new-is-not-read-at-all"),
]


@pytest.mark.skipif(not os.path.isfile(NO_BYTES), reason="there is no file here that even root cannot read")
@pytest.mark.parametrize(("name", "kind"), UNREADABLE)
def test_a_goal_post_that_cannot_be_read_is_told_as_edited(name: str, kind: PostKind | None, shop: Shop) -> None:
    path = shop.folder / name
    path.unlink(missing_ok=True)
    path.symlink_to(NO_BYTES)
    settings = name == "pyproject.toml"
    if settings:  # whoever reads the settings says what is wrong; a goal post is told whatever that is
        with pytest.raises(OSError, match="Input/output"):
            path.read_bytes()
    assert moved().posts == (() if kind is None else (GoalPost(kind, name, "edited, and cannot be read"),))
    if kind is PostKind.GATE:
        with pytest.raises(ConfigurationError, match=r"--gate gate\.yaml: cannot be read: Input/output error"):
            gate_text(Path(name), moved(name))


def test_edited_baselines_are_told_wherever_they_lie(shop: Shop) -> None:
    shop.write("golden/a/1.jsonl", "{}\n")
    shop.git("branch", "-f", "main", shop.commit())
    shop.write("golden/a/1.jsonl", "{1}\n")
    assert moved().posts == ()
    found = moved_since(Repository.at(Path()), "main", None, shop.folder / "golden").posts
    assert found == (GoalPost(PostKind.BASELINE, "golden/a/1.jsonl", "edited"),)
    elsewhere = moved_since(Repository.at(Path()), "main", None, shop.top.parent).posts
    assert elsewhere == ()


def test_a_scenario_that_is_renamed_is_another_one(shop: Shop) -> None:
    shop.git("mv", "in/side/scenarios/b.yaml", "in/side/scenarios/c.yaml")
    assert moved().posts == (GoalPost(PostKind.SCENARIO, "scenarios/c.yaml", "renamed from in/side/scenarios/b.yaml"),)


def test_many_changes_of_one_field_are_counted(shop: Shop) -> None:
    before, now = ("".join(f"    k{n}: {v}\n" for n in range(20)) for v in ("1", "2"))
    shop.write(A, SCENARIO.replace("expect: {status: completed, calls: [look]}", "expect:\n  usage:\n" + before))
    shop.git("branch", "-f", "base", shop.commit())
    shop.edit(A, before, now)
    posts = moved_since(Repository.at(Path()), "base").posts
    assert len(posts) == 9
    assert GoalPost(PostKind.EXPECTATION, A, "expect: and 12 more") in posts


def test_names_that_are_no_text_can_be_reported(shop: Shop) -> None:
    shop.write(os.fsdecode(b"reports/baselines/a/\xff.jsonl"), "x")
    assert [post.file for post in moved().posts] == ["reports/baselines/a/\ufffd.jsonl"]


# ---------------------------------------------------------------- the gate itself

OLD = b"format: harness-gate/1\nexact: {missing: fail}\n"
GATES: Mapping[str, tuple[Edit, str, bytes | None, bool]] = {
    "as it was": (write("x", ""), "gate.yaml", OLD, False),
    "edited": (write("gate.yaml", "format: harness-gate/1\n"), "gate.yaml", OLD, True),
    "deleted": (gone("gate.yaml"), "gate.yaml", OLD, True),
    "new": (write("mine.yaml", "format: harness-gate/1\n"), "mine.yaml", None, True),
    "renamed": (lambda shop: shop.git("mv", "in/side/gate.yaml", "in/side/mine.yaml"), "mine.yaml", OLD, True),
}


@pytest.mark.parametrize("case", GATES)
def test_the_gate_is_that_of_the_merge_base_whatever_the_change_makes_of_it(case: str, shop: Shop) -> None:
    change, name, data, edited = GATES[case]
    change(shop)
    found = gate_text(Path(name), moved(name))
    assert (found.text, found.source, found.edited) == (data, GateSource.MERGE_BASE, edited)


def test_a_gate_is_read_as_it_lies_here_where_no_base_is_known_or_it_is_outside(shop: Shop, tmp_path: Path) -> None:
    shop.write("gate.yaml", "here")
    (tmp_path / "mine.yaml").write_text("outside")
    assert gate_text(Path("gate.yaml")).text == b"here"
    found = gate_text(tmp_path / "mine.yaml", moved(None))
    assert (found.text, found.source, found.edited) == (b"outside", GateSource.FILE, False)
    for base in (None, moved(None)):
        with pytest.raises(ConfigurationError, match=r"no\.yaml: there is no such file"):
            gate_text(Path("no.yaml"), base)


def test_a_gate_whose_line_ends_git_changed_is_not_edited(shop: Shop) -> None:
    shop.write(".gitattributes", "*.yaml text eol=crlf\n")
    shop.git("branch", "-f", "main", shop.commit())
    for path in (shop.folder / "gate.yaml", shop.folder / "scenarios/b.yaml"):
        path.unlink()
    shop.git("checkout", "-f", ".")
    assert b"\r\n" in (shop.folder / "gate.yaml").read_bytes()
    found = gate_text(Path("gate.yaml"), moved())
    assert (found.text, found.edited) == (OLD, False)
    (shop.folder / "scenarios/b.yaml").rename(shop.folder / "scenarios/c.yaml")
    assert [post.detail for post in moved().posts] == ["renamed from in/side/scenarios/b.yaml"]
    shop.write("gate.yaml", "format: harness-gate/1\r\n")
    assert gate_text(Path("gate.yaml"), moved()).edited


def links(shop: Shop, **named: str) -> None:
    """Links in the folder of the project, committed at the merge base."""
    for name, target in named.items():
        (shop.folder / name).symlink_to(target)
    shop.git("branch", "-f", "main", shop.commit())


@pytest.mark.parametrize("name", ["link", "again", "folder/gate.yaml"])
def test_a_gate_that_is_a_link_in_the_repository_judges(name: str, shop: Shop) -> None:
    links(shop, link="gate.yaml", again="link", folder="../side")
    found = gate_text(Path(name), moved(name))
    assert (found.text, found.source, found.edited) == (OLD, GateSource.MERGE_BASE, False)
    shop.write("gate.yaml", "format: harness-gate/1\nexact: {missing: pass}\n")
    edited = gate_text(Path(name), moved(name))
    assert (edited.text, edited.edited) == (OLD, True)


@pytest.mark.parametrize("target", ["/etc/hostname", "../../../mine.yaml", "nowhere", "loop"])
def test_a_gate_that_is_a_link_to_elsewhere_is_refused(target: str, shop: Shop) -> None:
    links(shop, loop=target)
    with pytest.raises(RepositoryError, match="a link that leads out of the repository, or nowhere: name the file itself"):
        gate_text(Path("loop"), moved("loop"))
