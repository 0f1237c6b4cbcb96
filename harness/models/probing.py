"""What an endpoint can do, asked with a few small requests (ARTICLES 35).

A probe shows what came back this once: a model may call a tool in one request and answer in the next. Hence the
texts say what was seen, and only failures of the endpoint itself are faults.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from harness.errors import ModelError
from harness.protocols import Emit, Model, Signal
from harness.types.codes import Code, FinishReason
from harness.types.diagnosis import Diagnosis, State
from harness.types.doors import Answer, AnsweredCall, ModelCall
from harness.types.jsontext import canonical_json, parse_json
from harness.types.messages import ChatUser, JsonText, Messages
from harness.wire.content import visible_text

MOST_TOKENS: Final = 64
_TOOL: Final = {
    "name": "get_weather",
    "description": "Get the weather of a city. Call this whenever weather is asked for.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "The city."}},
        "required": ["city"],
        "additionalProperties": False,
    },
}
_WEATHER: Final = "What is the weather in Oslo? Use the tool."
_TWO: Final = "What is the weather in Oslo and in Lima? Use the tool once for each city, both at the same time."
_FORCED: Final = {"type": "function", "function": {"name": _TOOL["name"]}}
_SEED: Final = 7
_NAMES: Final = "Is OPENAI_BASE_URL right, and the model's name known there?"
Found = Answer | ModelError


STREAMED: Final = "streaming"
RESPONSES: Final = "responses"
RESPONSES_STREAMED: Final = "responses stream"


async def probed(
    model: Model,
    *,
    signal: Signal,
    hide: Callable[[str], str] = lambda text: text,
    others: Mapping[str, Model] | None = None,
) -> AsyncIterator[Diagnosis]:
    """What the endpoint behind ``model`` does, question by question.

    ``others`` are other ways to the same model (STREAMED, RESPONSES, RESPONSES_STREAMED), each asked for a call once.

    Where it does not answer at all, that is the only finding. What is no ModelError passes through. ``hide`` takes
    out of every text of the endpoint's what must not be shown, before anything of it is cut or quoted.
    """

    async def asked(call: ModelCall) -> Found:
        return _hidden(await _asked(model, call, signal), hide)

    first = await asked(_call("Say OK."))
    yield _answers(first)
    if isinstance(first, ModelError):
        return
    yield _usage(first)
    called = await asked(_call(_WEATHER, tools=True))
    yield _called("tools", called, "called by itself")
    yield _wire_id(called)
    yield _parallel(await asked(_call(_TWO, tools=True)))
    for name, choice in (("required choice", "required"), ("forced choice", _FORCED)):
        yield _called(name, await asked(_call("Hello.", tools=True, tool_choice=choice)), "obeyed")
    yield _uncalled(await asked(_call(_WEATHER, tools=True, tool_choice="none")))
    yield _repeated(*[await asked(_call("Name three colours.", seed=_SEED)) for _ in range(2)])
    for name, other in (others or {}).items():
        pieces: list[JsonText] = []
        found = _hidden(await _asked(other, _call(_WEATHER, tools=True), signal, pieces.append), hide)
        yield _way(name, found, len(pieces))


def _way(name: str, found: Found, n_pieces: int) -> Diagnosis:
    """A call that came another way than whole through Chat Completions."""
    hint = f"Scenarios that are asked this way ({name}) fail here, or are not what they say."
    if isinstance(found, Answer) and name != RESPONSES and not n_pieces:
        return Diagnosis(name, State.LACKS, "a whole answer came, and no pieces", hint)
    return _called(name, found, f"in {n_pieces} pieces" if n_pieces else "whole")


def _call(task: str, *, tools: bool = False, **parameters: Any) -> ModelCall:
    return ModelCall(
        system=(),
        messages=Messages.of([ChatUser(task)]),
        tools=canonical_json([_TOOL] if tools else []),
        parameters=canonical_json({"max_tokens": MOST_TOKENS, "temperature": 0, **parameters}),
    )


def _unseen(_: JsonText) -> None:
    """Pieces of an answer that are of no interest."""


async def _asked(model: Model, call: ModelCall, signal: Signal, emit: Emit = _unseen) -> Found:
    try:
        return await model.answer(call, signal=signal, emit=emit)
    except ModelError as error:
        return error


def _hidden(found: Found, hide: Callable[[str], str]) -> Found:
    if isinstance(found, ModelError):
        return ModelError(hide(str(found)), code=found.code)

    def clean(text: str | None) -> str | None:
        return text if text is None else hide(text)

    return replace(
        found,
        content=clean(None if found.content is None else visible_text(found.content)),
        calls=tuple(
            AnsweredCall(clean(one.name), clean(one.arguments), clean(one.wire_id), one.type) for one in found.calls
        ),
        raw_finish_reason=clean(found.raw_finish_reason),
        notes=tuple(map(hide, found.notes)),
    )


def _answers(found: Found) -> Diagnosis:
    if isinstance(found, ModelError):
        return Diagnosis("answers", State.FAULT, str(found), "" if found.code == Code.TRANSPORT else _NAMES)
    words = visible_text(found.content or "").strip()
    text = f"{words[:40]!r}, finish reason {found.raw_finish_reason!r}"
    if found.finish_reason is None:
        hint = "An answer without a finish reason counts as cut (NO_FINISH_REASON), and nothing of it is used."
        return Diagnosis("answers", State.FAULT, text, hint)
    return Diagnosis("answers", State.OK, _with_notes(text, found))


def _usage(answer: Answer) -> Diagnosis:
    used = answer.usage
    if used is None or used.input_tokens is None or used.output_tokens is None:
        return Diagnosis("usage", State.LACKS, "no token counts came", "Limits of tokens and cost count nothing here.")
    return Diagnosis("usage", State.OK, f"{used.input_tokens} tokens in, {used.output_tokens} out")


def _judged(name: str, found: Found, judge: Callable[[Answer], tuple[bool, str]], hint: str) -> Diagnosis:
    """LACKS with the hint where the endpoint refuses, or where the answer is not what was asked for."""
    if isinstance(found, ModelError):
        return Diagnosis(name, State.LACKS, f"refused: {found}", hint)
    good, text = judge(found)
    return Diagnosis(name, State.OK, _with_notes(text, found)) if good else Diagnosis(name, State.LACKS, text, hint)


def _called(name: str, found: Found, word: str) -> Diagnosis:
    hint = f"Scenarios that rely on it ({name}) fail here; a server may need another chat template to parse calls."
    return _judged(name, found, lambda answer: _weather_call(answer, word), hint)


def _weather_call(answer: Answer, word: str) -> tuple[bool, str]:
    if not answer.calls:
        return False, f"no call: {visible_text(answer.content or '').strip()[:60]!r} ({answer.raw_finish_reason})"
    call = answer.calls[0]
    arguments = parse_json(call.arguments or "")
    text = f"{call.name}({call.arguments}), finish reason {answer.raw_finish_reason!r}"
    if call.name != _TOOL["name"] or not isinstance(arguments, dict) or set(arguments) != {"city"}:
        return False, f"a call that does not fit its schema: {text}"
    return True, f"{word}: {text}"


def _wire_id(found: Found) -> Diagnosis:
    if isinstance(found, ModelError) or not found.calls:
        return Diagnosis("call ids", State.UNKNOWN, "no call came")
    given = found.calls[0].wire_id
    if not given:
        return Diagnosis("call ids", State.LACKS, "the call came without an id", "The harness gives it one of its own.")
    return Diagnosis("call ids", State.OK, repr(given))


def _parallel(found: Found) -> Diagnosis:
    hint = "One call an answer: scenarios of parallel calls take more steps here."
    return _judged("parallel calls", found, lambda it: (len(it.calls) > 1, f"{len(it.calls)} in one answer"), hint)


def _uncalled(found: Found) -> Diagnosis:
    hint = "The model may call tools although it was told not to."
    return _judged(
        "call forbidden", found, lambda it: (not it.calls, f"{len(it.calls)} calls under tool_choice none"), hint
    )


def _repeated(first: Found, second: Found) -> Diagnosis:
    for found in (first, second):
        if isinstance(found, ModelError):
            return Diagnosis("seed", State.LACKS, f"refused: {found}", "Leave 'seed' out of the parameters.")
    one, two = (_bare(found) for found in (first, second))
    if one == two:
        return Diagnosis("seed", State.OK, "twice the same answer to one request; that is no promise")
    return Diagnosis("seed", State.LACKS, "two answers to one request differ", "Judge live runs over several trials.")


def _bare(found: Found) -> object:
    return replace(found, usage=None, fingerprint=None, notes=()) if isinstance(found, Answer) else found


def _with_notes(text: str, answer: Answer) -> str:
    cut = ["cut by max_tokens"] if answer.finish_reason is FinishReason.LENGTH else []
    return "; ".join([text, *cut, *answer.notes])
