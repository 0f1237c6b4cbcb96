"""No secret of the environment reaches a trajectory or a summary, whoever says it (RELIABILITY P5)."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from harness.redaction import secret_mask
from harness.runner import RunOptions, execute, plan, run_one, summarise_folder, write_folder
from harness.testing import scenario
from harness.types.exchange import AssistantMessage

KEY = 'hunter2-"quoted"-canary-1234567890'
ENVIRON = (("MY_API_KEY", KEY),)
SPELLED = [KEY, KEY.encode().hex(), base64.b64encode(KEY.encode()).decode()]


def everywhere(text: str) -> dict[str, Any]:
    """A scenario in which model, tool and user all say the text."""
    return {
        "task": f"My key is {text}.",
        "system": f"The key is {text}.",
        "tools": {"stub": {"echo": {"returns": {"said": text}}}},
        "script": [{"call": {"echo": {"text": text}}}, {"say": f"You told me {text}."}],
        "expect": {"answer": {"contains": text}},
    }


@pytest.mark.parametrize("text", SPELLED, ids=["plain", "hex", "base64"])
def test_a_secret_said_by_anybody_is_in_no_file_of_the_folder(tmp_path: Path, text: str) -> None:
    one = scenario(**everywhere(text)).scenario
    result = execute(plan([one], RunOptions(folder=tmp_path, environ=ENVIRON))[0])
    write_folder(tmp_path, summarise_folder(tmp_path))
    needles = [text.encode(), json.dumps(text)[1:-1].encode()]
    for file in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert not any(needle in file.read_bytes() for needle in needles), file.name
    answers = [e.fact.content for e in result.trajectory if isinstance(e.fact, AssistantMessage)]
    assert str(answers[-1]).startswith("You told me <secret>")
    assert text not in str(result.summary)


def test_why_a_run_could_not_begin_is_told_without_the_secret(tmp_path: Path) -> None:
    one = scenario(task="Hi.").scenario
    (spec,) = plan([one], RunOptions(environ=ENVIRON, cassettes=tmp_path / KEY))
    ran = run_one(spec)
    assert ran.error is not None
    assert "not found" in ran.error
    assert KEY not in ran.error


def test_without_secrets_nothing_is_masked_and_nothing_is_noted(tmp_path: Path) -> None:
    one = scenario(**everywhere("an innocent word")).scenario
    result = execute(plan([one], RunOptions(folder=tmp_path))[0])
    assert result.passed, result.findings
    assert not any(getattr(e.fact, "name", "") == "secrets/masked" for e in result.trajectory)


def test_a_line_without_a_secret_comes_back_as_it_is() -> None:
    mask = secret_mask([KEY])
    assert mask is not None
    line = b'{"type":"run/start","seq":0}\n'
    assert mask(line) is line
    assert secret_mask([]) is None
