"""A scenario's outcome rules as the judge of a loop: status field, required fields, verifier function."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Coroutine
from typing import Any, Final

from harness import plugins
from harness.types.codes import Status
from harness.types.jsontext import Refusal, parse_json
from harness.types.messages import Messages
from harness.types.outcome import Judged, OutcomeRules

OUTCOMES: Final = (Status.COMPLETED, Status.WAITING_FOR_USER, Status.INCOMPLETE)
_GOOD: Final = Judged(Status.COMPLETED)


def outcome_judge(rules: OutcomeRules | None) -> Callable[[str, Messages], Coroutine[Any, Any, Judged]] | None:
    """The judge of these rules, None for none. Raises UnknownNameError for a verifier that is not there."""
    if rules is None:
        return None
    verifier = plugins.resolve(rules.verifier) if rules.verifier else None

    async def judge(answer: str, messages: Messages) -> Judged:
        said = by_status(answer, rules)
        if said.status is Status.COMPLETED:
            said = by_fields(answer, rules)
        if said.status is Status.COMPLETED and verifier is not None:
            value = verifier(answer, messages)
            said = read_judgement(await value if inspect.isawaitable(value) else value)
        return said

    return judge


def answer_field(answer: str, name: str) -> str:
    """A field of an answer: a key of the JSON object that it is, else the rest of the line ``name: text`` and
    what follows up to a blank line; "" for none.
    """
    value = parse_json(answer.strip())
    if not isinstance(value, Refusal) and isinstance(value, dict):
        found = value.get(name)
        return "" if found is None or found in ([], {}) else str(found).strip()
    pattern = rf"^[\s>*#-]*{re.escape(name)}[*]*\s*[:：][*]*[ \t]*(.*(?:\n[^\S\n]*\S[^:：\n]*$)*)"
    line = re.search(pattern, answer, re.IGNORECASE | re.MULTILINE)
    return line.group(1).strip() if line else ""


def by_status(answer: str, rules: OutcomeRules) -> Judged:
    """What the model says of its own answer; what it does not say is not completed."""
    if rules.status is None:
        return _GOOD
    word = answer_field(answer, rules.status)
    status = next((one for one in OUTCOMES if one == word.strip(" .`*\"'").lower()), None)
    if status is not None:
        return Judged(status, f"the answer says {rules.status}: {status}")
    said = f"says {rules.status}: {word[:80]!r}" if word else f"has no {rules.status!r}"
    return Judged(Status.INCOMPLETE, f"the answer {said}; allowed are {', '.join(OUTCOMES)}")


def by_fields(answer: str, rules: OutcomeRules) -> Judged:
    """Whether all required fields are there and say something."""
    missing = [name for name in rules.fields if not answer_field(answer, name)]
    return Judged(Status.INCOMPLETE, f"the answer lacks {', '.join(map(repr, missing))}") if missing else _GOOD


def read_judgement(value: Any) -> Judged:
    """What a verifier gave: a Judged, a word, or (word, why). Raises ValueError for anything else."""
    if isinstance(value, Judged):
        value = (value.status, value.why)
    word, why = value if isinstance(value, tuple) and len(value) == 2 else (value, None)
    if word not in OUTCOMES or not isinstance(why, str | None):
        raise ValueError(f"the verifier gave {value!r}; allowed are {', '.join(OUTCOMES)}, alone or with a reason")
    return Judged(Status(word), why)
