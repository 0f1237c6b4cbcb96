"""What a base can be: a packed folder of runs, committed baselines, runs that say which commit they are of."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from harness.cli.output import complain
from harness.errors import HarnessError
from harness.runner.bases.repository import Repository
from harness.runner.bases.revisions import recorded_revision, revision_info
from harness.runner.bases.worktrees import worktree
from harness.store import write_summaries
from harness.types.review import Revision
from tests.cli.lab import BAD, GOOD, Cli
from tests.cli.shop import built

OTHER = GOOD.replace("It is 42.", "42, I say.")
THIRD = GOOD.replace("6 * 7}}", "7 * 6}}", 1)


def ran(cli: Cli, out: str, **scenarios: str) -> None:
    """A folder of runs of these scenarios, by name."""
    shutil.rmtree("scenarios", ignore_errors=True)
    for name, text in scenarios.items():
        cli.write(f"scenarios/{name}.yaml", text)
    assert cli("run", "--out", out).code in (0, 1)


# ---------------------------------------------------------------- archives


@pytest.mark.parametrize("suffix", [".zip", ".tar", ".tar.gz"])
@pytest.mark.parametrize("inside", [".", "one"], ids=["plain", "in-a-folder"])
def test_a_packed_folder_of_runs_is_a_side(suffix: str, inside: str, cli: Cli) -> None:
    ran(cli, "runs/one", a=GOOD)
    ran(cli, "two", a=OTHER)
    kind = {".zip": "zip", ".tar": "tar", ".tar.gz": "gztar"}[suffix]
    root = Path("runs/one") if inside == "." else Path("runs")
    packed = Path(shutil.make_archive("main", kind, root_dir=root, base_dir=inside)).name
    said = cli("compare", packed, "two")
    assert (said.code, "It is 42. → 42, I say." in said.out) == (1, True), said.all
    assert f"base       {packed}" in said.out
    assert "harness-runs-" not in said.all
    same = cli("compare", "runs/one", packed)
    assert (same.code, same.out) == (0, f"PASS  1 scenario, no difference  (runs/one, {packed})\n")


def test_reports_that_read_trajectories_find_those_of_an_archive(cli: Cli) -> None:
    ran(cli, "one", a=GOOD)
    ran(cli, "two", a=OTHER)
    shutil.make_archive("main", "zip", root_dir="one")
    said = cli("compare", "main.zip", "two", "--format", "markdown", "--reports", "pages")
    assert said.code == 1
    assert "was not written" not in said.err
    assert "```mermaid" in said.out


def test_an_archive_that_cannot_be_unpacked_is_invalid(cli: Cli) -> None:
    ran(cli, "two", a=GOOD)
    cli.write("main.zip", b"PK\x03\x04 and nothing more")
    said = cli("compare", "main.zip", "two")
    assert (said.code, "main.zip: cannot be unpacked" in said.err) == (4, True)


EVIL = "\x1b[31mEVIL\n::error::all is well"


@pytest.mark.parametrize("kind", ["zip", "tar"])
@pytest.mark.parametrize("name", [f"trajectories/{EVIL}.jsonl", f"{EVIL}.json"], ids=["damaged", "passed-over"])
def test_names_in_an_archive_are_no_commands_and_no_lines_of_ours(kind: str, name: str, cli: Cli) -> None:
    ran(cli, "two", a=GOOD)
    shutil.copytree("two", "one/in")
    if name.startswith("trajectories/"):
        Path("one/in", name).write_text("{}\n")
    else:
        shutil.rmtree("one/in/trajectories")
        Path("one/in/run.json").unlink()
        shutil.copy(next(Path("two/trajectories").iterdir()), "one/in/a.jsonl")
        Path("one/in", name).write_text("{}\n")
    said = cli("compare", shutil.make_archive("main", kind, root_dir="one"), "two")
    assert "EVIL" in said.err
    assert "\x1b" not in said.all
    assert not any(line.lstrip().startswith("::") for line in said.all.splitlines())
    assert f"main.{kind}/" in said.err
    assert "harness-runs-" not in said.all


def test_no_line_of_a_message_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    complain("error: a\n::error::b\n  ##[error]c\nfine :: d")
    assert capsys.readouterr().err == "error: a\n| ::error::b\n  | ##[error]c\nfine :: d\n"


def test_a_checkout_without_room_is_no_fault_of_the_caller(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = built(cli.folder / "repo", "", {"a": "x"})
    full = "error: unable to write file a: No space left on device"
    real = shutil.which("git")
    script = f"""#!/bin/sh
case "$*" in *"worktree add"*) echo '{full}' >&2; exit 128;; esac
exec '{real}' "$@"
"""
    stand_in = cli.folder / "bin" / "git"
    stand_in.parent.mkdir()
    stand_in.write_text(script)
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{stand_in.parent}{os.pathsep}{os.environ['PATH']}")
    here = Repository.at(shop.top)
    with pytest.raises(HarnessError, match="No space left on device") as raised, worktree(here, here.commit_of("HEAD")):
        pass
    assert raised.value.exit_code == 5


# ---------------------------------------------------------------- committed baselines


@pytest.fixture
def accepted(cli: Cli) -> Path:
    """Two accepted variants of a, one of b and one of deep/c."""
    ran(cli, "one", a=GOOD, b=GOOD, **{"deep/c": GOOD})
    assert cli("baseline", "accept", "one").code == 0
    ran(cli, "two", a=OTHER)
    assert cli("baseline", "accept", "two").code == 0
    return Path("reports/baselines")


def changes(found: Any) -> dict[str, str]:
    return {row["candidate" if "candidate" in row else "base"]["scenario"]: row["change"] for row in found["comparison"]["scenarios"]}


@pytest.mark.parametrize("variant", [pytest.param(GOOD, id="the-first"), pytest.param(OTHER, id="the-second")])
def test_a_run_that_takes_any_accepted_variant_is_the_same(variant: str, accepted: Path, cli: Cli) -> None:
    ran(cli, "new", a=variant, b=GOOD, **{"deep/c": GOOD})
    said = cli("compare", "reports/baselines", "new")
    assert (said.code, said.out) == (0, "PASS  3 scenarios, no difference  (reports/baselines, new)\n")


def test_a_run_that_takes_none_is_compared_with_the_nearest(accepted: Path, cli: Cli) -> None:
    ran(cli, "new", a=GOOD.replace("It is 42.", "42 it is."), b=THIRD, **{"deep/c": GOOD})
    said = cli("compare", "reports/baselines", "new")
    assert said.code == 1
    assert "changed  a  step 2: It is 42. → 42 it is.  cause: the model chose differently on the same input" in said.out
    assert 'changed  b  step 1 call 1 calculator arguments.expression: "6 * 7" → "7 * 6"' in said.out
    rows = {row["candidate"]["scenario"]: row for row in cli("compare", "reports/baselines", "new", "--json").json["comparison"]["scenarios"]}
    assert rows["a"]["base"]["file"] == "a/1.jsonl"
    assert rows["deep/c"]["change"] == "same"
    diff = cli("baseline", "diff", "new", "--json").json["rows"]
    assert {row["scenario"]: row["change"] for row in diff} == {name: row["change"] for name, row in rows.items()}


def test_a_scenario_with_variants_and_no_run_is_missing_and_one_without_variants_is_new(accepted: Path, cli: Cli) -> None:
    ran(cli, "new", b=GOOD, other=GOOD, **{"deep/c": GOOD})
    found = cli("compare", "reports/baselines", "new", "--json")
    assert found.code == 1
    assert changes(found.json) == {"a": "missing", "b": "same", "deep/c": "same", "other": "new"}
    part = cli("compare", "reports/baselines/deep", "new", "--json")
    assert (part.code, changes(part.json)) == (0, {"deep/c": "same"})
    one = cli("compare", "reports/baselines", "new/trajectories/b@default#1.jsonl")
    assert (one.code, "missing" in one.out) == (0, False), "one run is not all there is"


def test_what_runs_beside_a_folder_of_baselines_is_not_judged_by_it(accepted: Path, cli: Cli) -> None:
    ran(cli, "new", a=GOOD, b=BAD, **{"deep/c": GOOD, "deep/new": GOOD})
    said = cli("compare", "reports/baselines/deep", "new", "--json")
    assert (said.code, changes(said.json)) == (0, {"deep/c": "same", "deep/new": "new"}), "b fails, and nobody asked"
    gone = cli("compare", "reports/baselines/a", "new/trajectories/b@default#1.jsonl")
    assert (gone.code, "no run has an accepted variant" in gone.err) == (4, True)


def test_a_scenario_without_a_run_was_accepted_and_so_passed(accepted: Path, cli: Cli) -> None:
    ran(cli, "new", b=GOOD)
    side = cli("compare", "reports/baselines", "new", "--json").json["comparison"]["baseSide"]
    assert (side["planned"], side["passed"], side.get("invalid", 0)) == (3, 3, 0)
    text = cli("compare", "reports/baselines", "new").out
    assert "invalid" not in text


def test_a_variant_that_is_named_is_compared_with_and_no_other_one(accepted: Path, cli: Cli) -> None:
    ran(cli, "new", a=OTHER, b=BAD)
    run = next(Path("new").rglob("a@*.jsonl"))
    for place in ("new", str(run)):
        second = cli("compare", "reports/baselines/a/2.jsonl", place)
        assert (second.code, "1 scenario, no difference" in second.out) == (0, True), second.all
        first = cli("compare", "reports/baselines/a/1.jsonl", place)
        assert (first.code, "It is 42. → 42, I say." in first.out) == (1, True), first.all
    Path("loose").mkdir()
    shutil.copy("reports/baselines/a/2.jsonl", "loose/2.jsonl")
    assert cli("compare", "loose/2.jsonl", str(run)).code == 1, "it lies where no variant of a does"


def test_a_family_of_scenarios_may_be_called_like_a_folder_of_runs(cli: Cli) -> None:
    ran(cli, "one", b=GOOD, **{"trajectories/x": GOOD})
    assert cli("baseline", "accept", "one").code == 0
    for base in ("reports/baselines", "reports/baselines/trajectories"):
        said = cli("compare", base, "one")
        assert (said.code, "no difference" in said.out) == (0, True), said.all
    assert cli("compare", "one", "one").code == 0
    Path("one/run.json").unlink()
    assert cli("compare", "one", "one").code == 0, "a folder of runs that says nothing of itself is one still"


def test_edited_baselines_are_told_where_they_are_what_is_compared_with(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = built(cli.folder / "repo", files={"scenarios/a.yaml": GOOD, ".gitignore": "/runs\n/reports\n"})
    monkeypatch.chdir(shop.folder)
    assert cli("run", "--out", "runs").code == 0
    assert cli("baseline", "accept", "runs", "--baselines", "golden").code == 0
    shop.git("branch", "b4", shop.commit())
    text = Path("golden/a/1.jsonl").read_text("utf-8")
    Path("golden/a/1.jsonl").write_text(text.replace("It is 42.", "42."), "utf-8")
    for base in ("golden", "golden/a", "golden/a/1.jsonl"):
        posts = cli("compare", base, "runs", "--base-ref", "b4", "--json").json["goalPosts"]
        assert posts == [{"kind": "baseline", "file": "golden/a/1.jsonl", "detail": "edited"}]


def test_a_run_that_fails_and_takes_no_variant_got_worse(accepted: Path, cli: Cli) -> None:
    ran(cli, "new", a=BAD.replace("It is 42.", "No."), b=GOOD, **{"deep/c": GOOD})
    said = cli("compare", "reports/baselines", "new")
    assert (said.code, "worse    a  step 2: It is 42. → No." in said.out) == (1, True), said.all


@pytest.mark.parametrize("gate", ["", "format: harness-gate/1\n"], ids=["without-a-gate", "with-a-gate"])
def test_a_run_that_took_a_variant_and_fails_today_got_worse(gate: str, accepted: Path, cli: Cli) -> None:
    ran(cli, "new", a=BAD, b=GOOD, **{"deep/c": GOOD})
    judged = ("--gate", str(cli.write("gate.yaml", gate))) if gate else ()
    found = cli("compare", "reports/baselines", "new", "--json", *judged)
    assert (found.code, changes(found.json)) == (1, {"a": "worse", "b": "same", "deep/c": "same"}), found.all
    assert found.json["comparison"]["baseSide"]["passed"] == 3, "they were accepted"
    assert (
        "worse    a  (same trajectory, PASS → FAIL (expected_counts))"
        in cli("compare", "reports/baselines", "new", *judged).out
    )
    assert cli("baseline", "accept", "new").code == 1, "and it would not be accepted either"


def test_what_was_accepted_failing_may_fail_in_the_same_way_and_in_no_other(cli: Cli) -> None:
    ran(cli, "one", a=BAD)
    assert cli("baseline", "accept", "one", "--failing").code == 0
    for base in ("reports/baselines", "reports/baselines/a/1.jsonl"):
        same = cli("compare", base, "one")
        assert (same.code, "no difference" in same.out) == (0, True), same.all
    ran(cli, "other", a=GOOD.replace('42"}', '43"}'))
    found = cli("compare", "reports/baselines", "other", "--json")
    (row,) = found.json["comparison"]["scenarios"]
    assert (found.code, row["change"]) == (1, "changed"), "it fails another check"
    ran(cli, "good", a=GOOD)
    (row,) = cli("compare", "reports/baselines", "good", "--json").json["comparison"]["scenarios"]
    assert row["change"] == "better"
    assert cli("baseline", "accept", "good").code == 0
    assert cli("compare", "reports/baselines", "one").code == 1, "it was accepted anew, and passed"


def test_trials_of_one_scenario_take_their_own_variants(accepted: Path, cli: Cli) -> None:
    ran(cli, "new", a=GOOD, b=GOOD, **{"deep/c": GOOD})
    cli("run", "--trials", "3", "--out", "new")
    row = next(one for one in cli("compare", "reports/baselines", "new", "--json").json["comparison"]["scenarios"])
    assert (row["change"], row["nBase"], row["nCandidate"]) == ("same", 3, 3)


def test_baselines_of_nothing_that_ran_are_invalid(accepted: Path, cli: Cli) -> None:
    ran(cli, "new", other=GOOD)
    said = cli("compare", "reports/baselines", "new/trajectories/other@default#1.jsonl")
    assert (said.code, "no run has an accepted variant" in said.err) == (4, True)


def test_numbered_trajectories_that_nobody_accepted_are_no_baselines(accepted: Path, cli: Cli) -> None:
    ran(cli, "new", a=GOOD)
    for name in ("one", "two"):
        cli.write(f"{name}-files/7.jsonl", next(Path(name).rglob("a@*.jsonl")).read_bytes())
    assert cli("compare", "one-files", "two-files").code == 1


# ---------------------------------------------------------------- which code ran


def test_run_json_says_which_code_ran_and_nothing_else_does(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    ran(cli, "outside", a=GOOD)
    shop = built(cli.folder / "repo", files={"scenarios/a.yaml": GOOD, ".gitignore": "/runs\n"})
    monkeypatch.chdir(shop.folder)
    assert cli("run", "--out", "runs").code == 0
    info = json.loads(Path("runs/run.json").read_text("utf-8"))
    assert info["revision"] == {"commit": shop.git("rev-parse", "HEAD"), "ref": "main"}
    assert "revision" not in json.loads((cli.folder / "outside/run.json").read_text("utf-8"))
    for name in ("summary.jsonl",):
        assert Path("runs", name).read_bytes() == (cli.folder / "outside" / name).read_bytes()
    assert "revision" not in cli("run", "--out", "runs", "--json").json
    shop.edit("scenarios/a.yaml", "42.", "42!")
    assert cli("run", "--out", "runs").code == 0
    assert recorded_revision(Path("runs")) == Revision(info["revision"]["commit"], "main", dirty=True)


@pytest.mark.parametrize(
    "said",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"revision": "abc"}, id="text"),
        pytest.param({"revision": {"commit": None}}, id="no-commit"),
        pytest.param({"revision": {"commit": 7, "ref": "x"}}, id="a-number"),
    ],
)
def test_a_run_json_that_does_not_say_it_tells_nothing(said: dict[str, Any], tmp_path: Path) -> None:
    write_summaries(tmp_path, (), {"format": "harness-run/1", **said})
    assert recorded_revision(tmp_path) == Revision()
    assert recorded_revision(tmp_path / "nowhere") == Revision()
    assert revision_info(tmp_path) == {}


def test_the_commit_of_the_base_is_where_the_gate_is_read_unless_another_is_named(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    strict, easy = "format: harness-gate/1\n", "format: harness-gate/1\nexact: {behaviour: pass}\n"
    files = {"scenarios/a.yaml": GOOD, "gate.yaml": strict, ".gitignore": "/runs\n"}
    shop = built(cli.folder / "repo", files=files)
    monkeypatch.chdir(shop.folder)
    assert cli("run", "--out", "runs/base").code == 0
    shop.write("gate.yaml", easy)
    shop.git("branch", "easy", shop.commit())
    shop.edit("scenarios/a.yaml", "It is 42.", "42!")
    assert cli("run", "--out", "runs/new").code in (0, 1)
    compare = ("compare", "runs/base", "runs/new", "--gate", "gate.yaml")
    judged = cli(*compare)
    assert (judged.code, "this change edits the gate" in judged.out) == (1, True), judged.all
    named = cli(*compare, "--base-ref", "easy")
    assert (named.code, "edits the gate" in named.out) == (0, False), named.all
    Path("runs/base/run.json").unlink()
    here = cli(*compare, "--json")
    assert (here.code, here.json["verdict"]["source"]) == (0, "file")
    lost = {"format": "harness-run/1", "revision": {"commit": "0" * 40}}
    Path("runs/base/run.json").write_text(json.dumps(lost), "utf-8")
    unknown = cli(*compare)
    assert (unknown.code, "goal posts are not looked at" in unknown.err) == (0, True), unknown.all
