"""What a model chose, what a tool answered, how a turn or run ended."""

from __future__ import annotations

from typing import Any

from harness.compare.described import Described, of_content, of_values
from harness.compare.place import Place, Views
from harness.compare.texts import call_text, end_text, in_short
from harness.types.codes import DivergenceKind
from harness.types.jsontext import canonical_json

Fields = dict[str, Any]


def tell_answer(_: Place, base: Fields, candidate: Fields) -> Described | None:
    """Calls first (their order, name, then arguments), then the text, the refusal, the reasoning, the rest."""
    kind = DivergenceKind.MODEL
    if _reordered(base["tool_calls"], candidate["tool_calls"]):
        texts = (", ".join(map(call_text, side["tool_calls"])) for side in (base, candidate))
        return Described(kind, "order of the calls", *texts)
    for n in range(max(len(base["tool_calls"]), len(candidate["tool_calls"]))):
        told = _call(n, base, candidate)
        if told:
            return told
    answer = "text beside the calls" if base["tool_calls"] else "answer"
    for field, name in (("content", answer), ("refusal", "refusal"), ("reasoning", "reasoning")):
        if base[field] != candidate[field]:
            if field == "content" and _only_refuses(base) != _only_refuses(candidate):
                return Described(kind, name, _call_or_answer(0, base), _call_or_answer(0, candidate))
            return of_content(kind, name, base[field], candidate[field])
    return of_values(kind, "answer ", base, candidate)


def _only_refuses(answer: Fields) -> bool:
    return bool(answer["refusal"]) and not answer["content"] and not answer["tool_calls"]


def _reordered(calls: list[Fields], others: list[Fields]) -> bool:
    """True for the same calls in another order."""
    one, other = ([canonical_json([call["name"], call["arguments"]]) for call in side] for side in (calls, others))
    return one != other and sorted(one) == sorted(other)


def _call(n: int, base: Fields, candidate: Fields) -> Described | None:
    kind, path = DivergenceKind.MODEL, f"call {n + 1}"
    calls, others = base["tool_calls"], candidate["tool_calls"]
    if n >= len(calls) or n >= len(others) or calls[n]["name"] != others[n]["name"]:
        return Described(kind, path, _call_or_answer(n, base), _call_or_answer(n, candidate))
    one, other = calls[n], others[n]
    return of_values(kind, f"{path} {one['name']} arguments", one["arguments"], other["arguments"]) or of_values(
        kind, f"{path} {one['name']} ", one, other
    )


def _call_or_answer(n: int, answer: Fields) -> str | None:
    """The call at that place; the text or refusal of an answer that calls nothing; None where calls are fewer."""
    if n < len(answer["tool_calls"]):
        return call_text(answer["tool_calls"][n])
    if _only_refuses(answer):
        return f'refusal "{in_short(answer["refusal"])}"'
    if answer["tool_calls"] or not isinstance(answer["content"], str):
        return None
    return f'answer "{in_short(answer["content"])}"'


def tell_result(place: Place, base: Fields, candidate: Fields) -> Described | None:
    """The result of one call by its code, its content, the rest; or results in another order."""
    if base["call_id"] != candidate["call_id"]:
        return _other_call(place, base, candidate)
    return _result(f"{_owner(place, base)} result", base, candidate)


def _result(name: str, base: Fields, candidate: Fields) -> Described | None:
    kind = DivergenceKind.TOOL
    if any(base[field] != candidate[field] for field in ("code", "is_error")):
        return Described(kind, name, _with_code(base), _with_code(candidate))
    if base["content"] != candidate["content"]:
        return of_content(kind, name, base["content"], candidate["content"])
    return of_values(kind, f"{name} ", base, candidate)


def _other_call(place: Place, base: Fields, candidate: Fields) -> Described:
    """The candidate answers another call here: what does it answer to the base's, and the base to that one?"""
    now, was = (f"{_owner(place, result)} result" for result in (base, candidate))
    later = _result_of(place.right, place.index, base["call_id"])
    if later is None:
        return Described(DivergenceKind.LOOP, now, _with_code(base), None)
    if _result_of(place.left, place.index, candidate["call_id"]) is None:
        return Described(DivergenceKind.LOOP, was, None, _with_code(candidate))
    order = Described(DivergenceKind.LOOP, "order of the results", _owner(place, base), _owner(place, candidate))
    return _result(now, base, later) or order


def _result_of(view: Views, index: int, call_id: str) -> Fields | None:
    results = (viewed.fields for viewed in view[index:] if viewed.kind == "tool/result")
    return next((fields for fields in results if fields["call_id"] == call_id), None)


def _owner(place: Place, result: Fields) -> str:
    found = place.call(result["call_id"])
    return f"call {found[0]} {result['name']}" if found else f"call {result['name']}"


def _with_code(result: Fields) -> str:
    code = result["code"] or ("error" if result["is_error"] else "OK")
    content = result["content"]
    return f"{code}: {in_short(content)}" if isinstance(content, str) and content else str(code)


def tell_end(place: Place, base: Fields, candidate: Fields) -> Described | None:
    """Status and reason of a turn or of the run."""
    field = "status" if base["status"] != candidate["status"] else "reason"
    turn = "the turn" if place.turn is None else f"turn {place.turn}"
    path = f"{field} of {turn if place.some.kind == 'turn/end' else 'the run'}"
    return Described(DivergenceKind.END, path, end_text(base), end_text(candidate))
