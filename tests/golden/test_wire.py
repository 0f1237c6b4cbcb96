"""The format on disk is what the golden files say, to the byte and both ways."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from harness.store import dump_trajectory, read_bytes, read_trajectory
from harness.types.facts import FACT_TYPES
from tests.golden.every_kind import every_kind
from tests.golden.write import SCHEMA, TRAJECTORY, golden_files


@pytest.mark.parametrize("path", list(golden_files()), ids=lambda path: path.parent.name + "-" + path.name)
def test_a_golden_file_holds_what_is_written_now(path: Path) -> None:
    assert path.read_bytes() == golden_files()[path], "the format changed: python -m tests.golden.write"


def test_the_golden_trajectory_reads_as_the_values_it_was_written_from() -> None:
    read, expected = read_trajectory(TRAJECTORY), every_kind()
    assert read.header == expected.header
    assert read.events == expected.events
    assert read.torn is None


def test_the_golden_trajectory_is_written_again_to_the_same_bytes() -> None:
    data = TRAJECTORY.read_bytes()
    assert dump_trajectory(read_bytes(data, "golden")) == data


def test_the_golden_trajectory_holds_every_kind() -> None:
    kinds = {json.loads(line)["type"] for line in TRAJECTORY.read_bytes().splitlines()}
    assert kinds == {"trajectory/header", "later/kind", *FACT_TYPES}


def records() -> list[Any]:
    return [json.loads(line) for line in TRAJECTORY.read_bytes().split(b"\n")[:-1]]


def validator() -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(json.loads(SCHEMA.read_bytes()))


@pytest.mark.parametrize("record", records(), ids=lambda record: f"{record.get('seq', 'header')}-{record['type']}")
def test_the_schema_takes_every_golden_line(record: Any) -> None:
    assert list(validator().iter_errors(record)) == []


@pytest.mark.parametrize("record", records(), ids=lambda record: f"{record.get('seq', 'header')}-{record['type']}")
def test_the_schema_refuses_every_golden_line_once_it_is_broken(record: Any) -> None:
    broken = [{**record, "type": 1}, {**record, "ignorable": False}]
    if record["type"] != "later/kind":
        broken += [{**record, "colour": "blue"}]
    if "ignorable" not in record:
        broken += [{**record, "type": "no/such"}, {**record, "ignorable": True}]
    if record["type"] != "trajectory/header":
        broken += [{**record, "origin": "heaven"}, {key: record[key] for key in record if key != "seq"}, {**record, "seq": "1"}]
    assert [one for one in broken if validator().is_valid(one)] == []


def test_a_line_says_its_type_first_then_its_envelope_and_leaves_out_what_says_nothing() -> None:
    lines = TRAJECTORY.read_bytes().decode("utf-8").split("\n")
    assert lines[1] == '{"type":"run/start","seq":0,"time":0,"origin":"subject"}'
    assert '"type":"note","seq":30,"time":30,"origin":"subject","turn":1,"step":2,"ignorable":true,"name"' in lines[31]
    assert '"keep":[[0,1]],"attempt":2}' in lines[13]
    assert lines[27].endswith('"call_1","content":"{\\"rain\\":true}","name":"get_weather"}]}')
    assert '"step":2,"keep":[[0,1]],"append":[{"role":"assistant"' in lines[27]
    assert '"keep":[[1,3]],"append":[{"role":"developer"' in lines[30]
    assert '"agent":"call_1/1.1.1"' in lines[33]
    assert "null" not in "".join(lines)
