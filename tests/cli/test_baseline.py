"""``harness baseline``: runs accepted as variants, listed, and later runs beside them."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from harness.store import locked
from tests.cli.lab import BAD, GOOD, Cli

OTHER = GOOD.replace("It is 42.", "42, I say.")
THIRD = GOOD.replace("6 * 7}}", "7 * 6}}", 1)
RULE = "each run must take an accepted variant of its scenario, and each such scenario must run"
CHOSE = "the model chose differently on the same input"
KEPT = Path("reports/baselines")


def ran(cli: Cli, out: str, **scenarios: str) -> None:
    """A folder of runs of these scenarios, by name."""
    shutil.rmtree("scenarios", ignore_errors=True)
    for name, text in scenarios.items():
        cli.write(f"scenarios/{name}.yaml", text)
    assert cli("run", "--out", out).code in (0, 1)


def kept() -> dict[str, bytes]:
    return {path.relative_to(KEPT).as_posix(): path.read_bytes() for path in sorted(KEPT.rglob("*")) if path.is_file()}


def test_an_accepted_run_is_taken_again_and_accepting_it_twice_changes_nothing(cli: Cli) -> None:
    ran(cli, "one", refund=GOOD)
    said = cli("baseline", "accept", "one")
    assert (said.code, said.out.splitlines()) == (
        0,
        ["added    refund  variant 1 (refund@default#1)", "1 run: 1 added, 0 known already, 0 refused, in reports/baselines"],
    )
    before = kept()
    assert sorted(before) == ["refund/1.jsonl"]
    again = cli("baseline", "accept", "one")
    assert (again.code, again.out) == (0, "1 run: 0 added, 1 known already, 0 refused, in reports/baselines\n")
    assert kept() == before
    ran(cli, "two", refund=GOOD)
    said = cli("baseline", "diff", "two")
    assert said.code == 0
    assert said.out == (
        "PASS  every run that has variants took one of them: 1 same, 0 changed, 0 missing, 0 new  (two, reports/baselines)\n"
    )
    assert "same     refund  (variant 1)" in cli("baseline", "diff", "two", "-v").out


def test_a_run_that_takes_no_variant_is_told_beside_the_one_that_it_follows_longest(cli: Cli) -> None:
    for out, text in (("one", THIRD), ("two", GOOD)):
        ran(cli, out, refund=text)
        assert cli("baseline", "accept", out).code == 0
    assert sorted(kept()) == ["refund/1.jsonl", "refund/2.jsonl"]
    assert [cli("baseline", "diff", out).code for out in ("one", "two")] == [0, 0]
    ran(cli, "three", refund=OTHER)
    said = cli("baseline", "diff", "three")
    assert said.code == 1
    assert said.out.splitlines() == [
        f"FAIL  {RULE}: 0 same, 1 changed, 0 missing, 0 new  (three, reports/baselines)",
        f"changed  refund  step 2: It is 42. → 42, I say.  cause: {CHOSE}  (nearest of 2: variant 2)",
    ]
    (row,) = cli("baseline", "diff", "three", "--json").json["rows"]
    assert (row["change"], row["variant"], row["nVariants"]) == ("changed", 2, 2)
    assert row["explanation"]["cause"] == "model"


def test_each_trial_may_take_a_variant_of_its_own(cli: Cli) -> None:
    cli.write("scenarios/refund.yaml", GOOD)
    cli("run", "--out", "one", "--trials", "3")
    said = cli("baseline", "accept", "one", "--json").json
    assert [run["taken"] for run in said["runs"]] == ["added", "known", "known"]
    assert {run["number"] for run in said["runs"]} == {1}
    cli.write("scenarios/refund.yaml", OTHER)
    cli("run", "--out", "two", "--trials", "2")
    lines = cli("baseline", "diff", "two").out.splitlines()
    assert [line.split("  ")[1] for line in lines[1:]] == ["refund (default, trial 1)", "refund (default, trial 2)"]


def test_a_scenario_without_a_run_is_a_regression_and_one_without_variants_is_listed(cli: Cli) -> None:
    ran(cli, "one", refund=GOOD, cancel=GOOD)
    cli("baseline", "accept", "one")
    ran(cli, "two", refund=GOOD, order=GOOD)
    said = cli("baseline", "diff", "two")
    assert said.code == 1
    assert said.out.splitlines()[1:] == ["missing  cancel  has no run", "new      order  has no accepted variant"]
    single = str(next(Path("two/trajectories").glob("refund*")))
    assert cli("baseline", "diff", single).code == 0
    ran(cli, "three", refund=GOOD, cancel=GOOD, order=GOOD)
    assert cli("baseline", "diff", "three").code == 0


def test_runs_without_any_variant_are_no_pass(cli: Cli) -> None:
    ran(cli, "one", refund=GOOD)
    said = cli("baseline", "diff", "one")
    assert said.code == 4
    assert said.out.startswith("INVALID  none of these runs has an accepted variant")


def test_runs_that_did_not_pass_are_refused_and_the_others_are_accepted(cli: Cli) -> None:
    ran(cli, "one", broken=BAD, refund=GOOD)
    said = cli("baseline", "accept", "one")
    assert said.code == 1
    assert said.out.splitlines() == [
        "refused  broken  broken@default#1 is FAIL: final-answer",
        "added    refund  variant 1 (refund@default#1)",
        "2 runs: 1 added, 0 known already, 1 refused, in reports/baselines",
        "runs that did not pass are accepted with --failing only",
    ]
    assert sorted(kept()) == ["refund/1.jsonl"]
    assert cli("baseline", "accept", "one", "--failing").code == 0
    assert sorted(kept()) == ["broken/1.jsonl", "refund/1.jsonl"]


def test_replacing_drops_what_no_accepted_run_took_and_only_there(cli: Cli) -> None:
    for text in (GOOD, OTHER, THIRD):
        ran(cli, "one", refund=text, other=GOOD)
        cli("baseline", "accept", "one")
    before = kept()
    assert sorted(before) == ["other/1.jsonl", "refund/1.jsonl", "refund/2.jsonl", "refund/3.jsonl"]
    ran(cli, "four", refund=GOOD.replace("It is 42.", "So 42."))
    said = cli("baseline", "accept", "four", "--replace")
    assert said.code == 0
    assert said.out.splitlines()[:4] == [
        "added    refund  variant 1 (refund@default#1)",
        *(f"dropped  refund/{n}.jsonl" for n in (1, 2, 3)),
    ]
    assert sorted(kept()) == ["other/1.jsonl", "refund/1.jsonl"]
    assert kept()["other/1.jsonl"] == before["other/1.jsonl"]
    assert cli("baseline", "diff", "one").code == 1


def test_replacing_by_runs_that_were_all_refused_drops_nothing(cli: Cli) -> None:
    ran(cli, "one", refund=GOOD)
    cli("baseline", "accept", "one")
    before = kept()
    ran(cli, "two", refund=BAD.replace("It is 42.", "No."))
    assert cli("baseline", "accept", "two", "--replace").code == 1
    assert kept() == before


def test_the_list_says_where_variants_come_from_and_which_are_stale(cli: Cli) -> None:
    assert cli("baseline", "list").out.startswith("no baselines in reports/baselines")
    ran(cli, "one", refund=GOOD, gone=GOOD, same=GOOD)
    cli("baseline", "accept", "one")
    cli.write("reports/baselines/evaluations/shop/summary.jsonl", "{}\n")
    ran(cli, "two", refund=GOOD.replace("What is", "How much is"), same=GOOD)
    lines = cli("baseline", "list").out.splitlines()
    assert lines == [
        "gone  variant 1  2 steps  gone@default#1  built-in, scripted, default  STALE: the scenario is gone",
        "refund  variant 1  2 steps  refund@default#1  built-in, scripted, default  STALE: the scenario has changed since",
        "same  variant 1  2 steps  same@default#1  built-in, scripted, default",
        "3 variants of 3 scenarios, 2 stale",
    ]
    rows = cli("baseline", "list", "--json").json["variants"]
    assert [row.get("stale", "") for row in rows] == ["the scenario is gone", "the scenario has changed since", ""]
    assert len({row["digest"] for row in rows}) == 1
    shutil.rmtree("scenarios")
    assert "STALE" not in cli("baseline", "list").out, "nobody knows the scenarios"


def test_the_same_run_twice_is_an_error_and_nothing_is_accepted(cli: Cli) -> None:
    ran(cli, "one", refund=GOOD)
    path = next(Path("one/trajectories").glob("*.jsonl"))
    text = path.read_text("utf-8")
    path.with_name("again.jsonl").write_text(text.replace('"subject":"built-in"', '"subject":"other"', 1), "utf-8")
    for verb in ("accept", "diff"):
        said = cli("baseline", verb, "one")
        assert said.code == 4
        assert "there are two runs of scenario 'refund', arm 'default', trial 1" in said.err
    assert not KEPT.exists()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        pytest.param(lambda data: data[:-9], "the last line is not finished", id="torn"),
        pytest.param(lambda data: data.replace(b"turn/start", b"turn/begin"), "1.jsonl:4", id="damaged"),
        pytest.param(lambda data: data.replace(b'"id":"refund"', b'"id":"order"', 1), "says that it is of scenario 'order'", id="moved"),
        pytest.param(lambda data: re.sub(rb'"scenario":\{[^}]*\},', b"", data, count=1), "no accepted variant", id="a-plain-run"),
    ],
)
def test_a_damaged_or_misplaced_variant_is_named_and_nothing_is_written(cli: Cli, damage: object, message: str) -> None:
    ran(cli, "one", refund=GOOD)
    cli("baseline", "accept", "one")
    path = KEPT / "refund" / "1.jsonl"
    assert callable(damage)
    path.write_bytes(damage(path.read_bytes()))
    before = kept()
    for arguments in (("accept", "one"), ("diff", "one"), ("list",)):
        said = cli("baseline", *arguments)
        assert said.code == 4, arguments
        assert "1.jsonl" in said.err
        assert message in said.err
    assert kept() == before


def test_a_file_that_is_called_otherwise_than_a_variant_is_refused(cli: Cli) -> None:
    ran(cli, "one", refund=GOOD)
    cli("baseline", "accept", "one")
    (KEPT / "refund" / "1.jsonl").rename(KEPT / "refund" / "01.jsonl")
    said = cli("baseline", "diff", "one")
    assert said.code == 4
    assert "only what 'harness baseline accept' writes belongs here" in said.err


def test_a_secret_of_the_environment_is_never_committed(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    ran(cli, "one", clean=GOOD, refund=GOOD.replace("It is 42.", "It is 42, correct-horse-battery."))
    monkeypatch.setenv("SHOP_TOKEN", "correct-horse-battery")
    said = cli("baseline", "accept", "one")
    assert said.code == 5
    assert "'refund@default#1' holds a secret" in said.err
    assert "correct-horse" not in said.all
    assert not KEPT.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is refused to root")
def test_two_that_accept_at_once_do_not_write_over_each_other(cli: Cli) -> None:
    cli.write("one.yaml", GOOD)
    cli("run", "one.yaml", "--out", "runs")
    for root in ("new", "old"):
        with locked(Path.cwd()):  # where the folder of baselines is not there yet, what it will lie in
            told = cli("baseline", "accept", "runs", "--baselines", f"{root}/deep")
        assert (told.code, "accepted by another command" in told.err) == (5, True), told.err
        assert not Path(root).exists()
    cli("baseline", "accept", "runs", "--baselines", "old")
    with locked("old"):
        assert cli("baseline", "accept", "runs", "--baselines", "old").code == 5
        assert cli("baseline", "list", "--baselines", "old").code == 0, "reading goes on"


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_read(cli: Cli) -> None:
    cli.write("shut/x", "")
    Path("shut").chmod(0o500)
    assert cli("baseline", "accept", "nowhere", "--baselines", "shut/b").code == 2
    Path("shut").chmod(0o700)


def test_a_write_that_fails_leaves_the_old_variant_as_it_was(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    ran(cli, "one", refund=GOOD)
    cli("baseline", "accept", "one")
    before = kept()
    ran(cli, "two", refund=OTHER)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    said = cli("baseline", "accept", "two", "--replace")
    assert said.code == 5
    assert "cannot be written" in said.err
    assert kept() == before


def test_replacing_that_is_broken_off_leaves_whole_variants(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in (GOOD, OTHER):
        ran(cli, "one", refund=text, order=text)
        cli("baseline", "accept", "one")
    ran(cli, "two", refund=THIRD, order=THIRD)
    before, really = kept(), os.replace
    moved: list[str] = []

    def once(source: str, target: str) -> None:
        if moved:
            raise KeyboardInterrupt
        moved.append(target)
        really(source, target)

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", once)
        assert cli("baseline", "accept", "two", "--replace").code != 0
    after = kept()
    assert len(moved) == 1
    assert {name for name, data in after.items() if data != before.get(name)} == {"order/1.jsonl"}
    assert cli("baseline", "list").out.endswith("3 variants of 2 scenarios, 2 stale\n")
    assert cli("baseline", "accept", "two", "--replace").code == 0
    assert sorted(kept()) == ["order/1.jsonl", "refund/1.jsonl"]


def test_there_are_no_runs_there(cli: Cli) -> None:
    assert cli("baseline", "diff", "nowhere").code == 2
    cli.write("empty/trajectories/notes.txt", "")
    assert cli("baseline", "accept", "empty").code == 4


def test_another_products_runs_have_variants_too(cli: Cli) -> None:
    talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Which \u202eorder?"}]
    cli.write("x.json", json.dumps([{"task_id": n, "trial": 0, "messages": talk} for n in range(2)]))
    assert cli("baseline", "accept", "x.json", "--failing").code == 0
    assert sorted(kept()) == ["task-0/1.jsonl", "task-1/1.jsonl"]
    assert cli("baseline", "diff", "x.json").code == 0
    cli.write("today/y.json", Path("x.json").read_bytes())
    for runs in ("x.json", "today", "today/y.json"):
        said = cli("compare", "reports/baselines", runs)
        assert (said.code, "2 scenarios, no difference" in said.out) == (0, True), said.all
    talk[1]["content"] = "Which \u202etable?\x1b[31m"
    cli.write("x.json", json.dumps([{"task_id": n, "trial": 0, "messages": talk} for n in range(2)]))
    said = cli("baseline", "diff", "x.json")
    assert said.code == 1
    assert len(said.out.splitlines()) == 3
    assert not {"\u202e", "\x1b"} & set(said.out)
