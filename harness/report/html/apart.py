"""Where two long texts that stand beside each other part: what is kept of them lies around that place."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from harness.folds import text_of
from harness.report.html.calls import shown_text
from harness.types.aligned import AlignedRuns, AlignedSide, RunBlock
from harness.types.exchange import AssistantMessage, ModelFailed, RequestHeader, ToolResult, UserMessage
from harness.types.jsontext import Refusal, canonical_json, parse_json

Texts = dict[tuple[object, ...], str]


def starts_of(runs: AlignedRuns, n_chars: int) -> dict[str, int]:
    """For texts that are cut to so many characters and part behind them: where the kept part begins."""
    starts: dict[str, int] = {}
    for base, candidate in _pairs(runs):
        for key, text in base.items():
            other = candidate.get(key, text)
            # Of a short text all is kept: then the beginning of the other is what stands beside it.
            if text == other or min(len(text), len(other)) <= n_chars:
                continue
            parts_at = _parts_at(text, other)
            if parts_at > n_chars * 2 // 3:
                start = min(parts_at - n_chars // 3, max(len(text), len(other)) - n_chars)
                # From the begin of a line, where one begins before they part.
                start = text.find("\n", start - 1, parts_at) + 1 or start
                starts.update({one: start for one in (text, other) if one not in starts})
    return starts


def _parts_at(text: str, other: str) -> int:
    """The first place where two texts differ; the end of the shorter one where it is the beginning of the other."""
    parted = (at for at, (one, two) in enumerate(zip(text, other, strict=False)) if one != two)
    return next(parted, min(len(text), len(other)))


def _pairs(runs: AlignedRuns) -> Iterator[tuple[Texts, Texts]]:
    if runs.base is None or runs.candidate is None:
        return
    headers = (list(_headers(runs.base)), list(_headers(runs.candidate)))
    empty: Texts = {}
    yield from zip_longest(*headers, fillvalue=empty)
    for pair in runs.pairs:
        if pair.base is not None and pair.candidate is not None:  # equal ones too: not all of a text counts as one
            yield _of_block(runs.base.blocks[pair.base]), _of_block(runs.candidate.blocks[pair.candidate])


def _headers(side: AlignedSide) -> Iterator[Texts]:
    for event in side.trajectory.events:
        if isinstance(event.fact, RequestHeader):
            yield _of_header(event.fact)


def _of_header(header: RequestHeader) -> Texts:
    texts: Texts = {("system", at): text_of(one.content) or "" for at, one in enumerate(header.system)}
    texts["parameters",] = header.parameters
    tools = parse_json(header.tools)
    for tool in tools if not isinstance(tools, Refusal) and isinstance(tools, list) else ():
        if isinstance(tool, dict) and isinstance(tool.get("name"), str):
            texts[tool["name"], "parameters"] = canonical_json(tool.get("parameters"))
            if isinstance(tool.get("description"), str):
                texts[tool["name"], "description"] = tool["description"]
    return texts


def _of_block(block: RunBlock) -> Texts:
    """Answers, arguments, results, errors and inputs, each by its place among those of its kind."""
    texts: Texts = {}
    for event in block.events:
        match event.fact:
            case AssistantMessage(content=content, reasoning=reasoning, refusal=refusal, tool_calls=calls):
                found = [text_of(content), reasoning, refusal, *(call.arguments for call in calls)]
            case ToolResult(content=content, message=message):
                found = [shown_text(content), message]
            case ModelFailed(message=message):
                found = [message]
            case UserMessage(message=said):
                found = [text_of(said.content)]
            case _:
                continue
        kind = type(event.fact)
        nth = sum(key[0] is kind and key[2] == 0 for key in texts)
        texts.update({(kind, nth, at): text or "" for at, text in enumerate(found)})
    return texts
