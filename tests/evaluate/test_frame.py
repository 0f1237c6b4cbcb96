"""The tables of an evaluation: no value changes its kind, and nothing leaves the denominator."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet
import pytest

from harness.errors import InvalidValueError
from harness.evaluate import frame
from harness.evaluate.frame import COLUMNS, Kind, arms_ignoring_tools, frames, write_parquet
from harness.evaluate.summary import summarise
from harness.types.evaluation import Arm, GateSpec
from harness.types.jsontext import clean_text
from harness.types.reasons import Usage
from harness.types.trials import Trial, TrialAnswer, TrialCall
from tests.evaluate.made_evaluation import case, evaluation, snapshot, trial, trials
from tests.report.nasty import NASTY

TOOLS = snapshot()
BIG = 9_007_199_254_740_993
"""One more than a float can hold: it would come back as ...992."""
TABLE = {"now": {"001": "+tp", "NA": "+.."}, "new": {"001": "vva", "NA": "n+."}}


def made(names: Iterable[str] = ("001", "NA"), arms: Iterable[str] = ("now", "new"), **more):
    return evaluation([case(name) for name in names], [Arm(name) for name in arms], **more)


def test_ids_stay_text_and_words_for_nothing_are_words() -> None:
    got = frames(made(), TOOLS, trials(TABLE))
    assert set(got.trials["case"]) == {"001", "NA"}
    assert got.trials["case"].notna().all()
    assert list(got.cases["case"]) == ["001", "001", "NA", "NA"]
    assert str(got.cases["case"].dtype) == "string"


def test_whole_numbers_stay_exact_where_others_are_missing() -> None:
    given = [trial("001", "now", 1, "+", usage=Usage(BIG)), trial("001", "now", 2, "+"), trial("NA", "now", 1, "p")]
    tokens = frames(made(), TOOLS, given).trials["input_tokens"]
    assert str(tokens.dtype) == "Int64"
    assert tokens[0] == BIG
    assert tokens[1:].isna().all()


def test_big_arguments_are_json_text_and_exact() -> None:
    answer = TrialAnswer(calls=(TrialCall("get_order", f'{{"id": {BIG}}}'),))
    (text,) = frames(made(["001"], ["now"], trials=1), TOOLS, [replace(trial("001", "now", 1, "+"), answer=answer)]).trials["calls"]
    assert json.loads(json.loads(text)[0]["arguments"]) == {"id": BIG}


@pytest.mark.public_case("PB-040")
def test_the_mean_of_passed_is_the_headline_rate_with_errored_and_skipped_trials_in_it() -> None:
    got = frames(made(), TOOLS, trials(TABLE))
    summary = summarise(made(), TOOLS, trials(TABLE))
    assert len(got.trials) == 12
    assert got.trials["passed"].notna().all()
    for arm in summary.arms:
        rows = got.trials[got.trials["arm"] == arm.name]
        assert rows["passed"].mean() == pytest.approx(arm.counts.rate, abs=1e-6)
        scores = rows["score"].value_counts()
        assert [int(scores.get(name, 0)) for name in ("passed", "failed", "errored", "skipped")] == [
            arm.counts.passed, arm.counts.failed, arm.counts.errored, arm.counts.skipped,
        ]  # fmt: skip


def test_grouping_drops_no_row() -> None:
    """pandas leaves out rows whose key is missing: no key column ever is."""
    got = frames(made(), TOOLS, trials(TABLE))
    assert got.trials.groupby(["arm", "case"])["passed"].size().sum() == len(got.trials)
    assert got.cases.groupby(["unit", "split"])["planned"].sum().sum() == len(got.trials)
    assert got.confusion.groupby(["expected", "chosen"])["n"].sum().sum() == got.confusion["n"].sum()


def test_cases_of_both_arms_meet_one_to_one() -> None:
    got = frames(made(), TOOLS, trials(TABLE)).cases
    now, new = (got[got["arm"] == arm] for arm in ("now", "new"))
    assert len(now.merge(new, on="case", validate="one_to_one")) == 2


def test_parquet_gives_back_the_frames_and_their_types(tmp_path: Path) -> None:
    summary = write_parquet(tmp_path, made(), TOOLS, trials(TABLE))
    assert summary == summarise(made(), TOOLS, trials(TABLE))
    got = frames(made(), TOOLS, trials(TABLE))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "arguments.parquet", "cases.parquet", "confusion.parquet", "trials.parquet",
    ]  # fmt: skip
    types = {Kind.TEXT: "string", Kind.WHOLE: "int64", Kind.SHARE: "double", Kind.YES: "bool"}
    for name, kinds in COLUMNS.items():
        read = pyarrow.parquet.read_table(tmp_path / f"{name}.parquet")
        assert {field.name: str(field.type) for field in read.schema} == {column: types[kind] for column, kind in kinds.items()}
        mine = getattr(got, name)
        assert list(mine.columns) == list(kinds)
        for column in kinds:
            assert read[column].to_pylist() == [None if value is None or value != value else value for value in mine[column].astype(object).where(mine[column].notna(), None)]


@pytest.mark.parametrize("nasty", NASTY, ids=ascii)
def test_any_text_survives_parquet(tmp_path: Path, nasty: str) -> None:
    here = evaluation([case(f"c{nasty}", ask=nasty, tags=(nasty,), group=f"g{nasty}")], [Arm(f"now{nasty}")], trials=1)
    answer = TrialAnswer(content=nasty, calls=(TrialCall(nasty, nasty),))
    given = [replace(trial(f"c{nasty}", f"now{nasty}", 1, "+"), answer=answer)]
    write_parquet(tmp_path, here, TOOLS, given)
    row = pyarrow.parquet.read_table(tmp_path / "trials.parquet").to_pylist()[0]
    told = clean_text(nasty)
    assert (row["case"], row["unit"], row["arm"], row["content"]) == (f"c{told}", f"g{told}", f"now{told}", told)
    assert json.loads(row["calls"]) == [{"arguments": told, "name": told}]
    (case_row,) = pyarrow.parquet.read_table(tmp_path / "cases.parquet").to_pylist()
    assert (case_row["ask"], json.loads(case_row["tags"])) == (told, [told])


def test_rows_are_written_in_pieces_and_none_is_lost_between_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame, "ROWS_AT_ONCE", 3)
    names = [f"c{i}" for i in range(10)]
    write_parquet(tmp_path, made(names, ["now"], trials=1), TOOLS, trials({"now": dict.fromkeys(names, "+")}))
    file = pyarrow.parquet.ParquetFile(tmp_path / "trials.parquet")
    assert file.num_row_groups == 4
    assert file.read()["case"].to_pylist() == names


def test_a_number_that_no_column_can_hold_is_missing_and_not_wrong() -> None:
    tokens = frames(made(["001"], ["now"], trials=1), TOOLS, [trial("001", "now", 1, "+", usage=Usage(2**70, 5))]).trials
    assert tokens["input_tokens"].isna().all()
    assert list(tokens["output_tokens"]) == [5]


def test_what_cannot_be_finished_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    write_parquet(tmp_path, made(), TOOLS, trials(TABLE))
    before = (tmp_path / "trials.parquet").read_bytes()

    def broken() -> Iterable[Trial]:
        yield from trials(TABLE)
        yield trial("nobody", "now", 1, "+")

    with pytest.raises(InvalidValueError, match="is of no case"):
        write_parquet(tmp_path, made(), TOOLS, broken())
    assert (tmp_path / "trials.parquet").read_bytes() == before
    assert not list(tmp_path.glob(".*"))


def test_what_a_look_left_out_is_no_row_and_in_no_denominator(tmp_path: Path) -> None:
    plan = made((f"c{i:03}" for i in range(40)), trials=5, gate=GateSpec("now", "new", 0.2, looks=5))
    table = {arm: {f"c{i:03}": "+++.." for i in range(40)} for arm in ("now", "new")}
    got = frames(plan, TOOLS, trials(table))
    assert (len(got.trials), got.trials["passed"].mean()) == (240, 1.0)
    assert (got.cases["planned"] == 3).all()
    write_parquet(tmp_path, plan, TOOLS, trials(table))
    assert pyarrow.parquet.read_table(tmp_path / "trials.parquet").num_rows == 240


@pytest.mark.article("36")
def test_where_an_endpoint_ignores_tools_its_trials_say_so_as_the_summary_does(tmp_path: Path) -> None:
    plan = made(["a"], trials=10)
    table = {"now": {"a": "n" * 10}, "new": {"a": "+" + "n" * 9}}
    summary = summarise(plan, TOOLS, trials(table))
    assert arms_ignoring_tools(summary) == {"now"}
    got = frames(plan, TOOLS, trials(table)).trials
    write_parquet(tmp_path, plan, TOOLS, trials(table), ignoring=arms_ignoring_tools(summary))
    written = pyarrow.parquet.read_table(tmp_path / "trials.parquet").to_pandas()
    for rows in (got, written):
        of_arm = {arm: set(rows[rows["arm"] == arm]["why_no_call"].dropna()) for arm in ("now", "new")}
        assert of_arm == {"now": {"the endpoint ignores tools"}, "new": {"the model chose not to"}}
        assert "the endpoint ignores tools" in rows[rows["arm"] == "now"]["misfits"].iloc[0]
