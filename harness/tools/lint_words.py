"""Lint of names and descriptions of single tools."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from harness.tools.names import refused_by
from harness.types.evaluation import EvalTool

_LONGEST: Final = 1_500
_FEWEST_WORDS: Final = 4
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_CJK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WHEN: Final = re.compile(
    r"\b(use|used|call|called|run|invoke|choose|prefer|needed|meant|intended|useful|suited|helpful) "
    r"(this|it|the tool|for|to|when|whenever|only|if|after|before|instead|as|by|in|on|once|rather)\b"
    r"|\b(when|whenever|instead of|rather than|unless|as soon as)\b"
    r"|\bif (the|a|an|you|someone|somebody|asked|needed|there|no)\b"
    r"|\b(user|customer|caller|someone|somebody|anyone|people|they)s? (ask|want|need|say|mention|request)s?\b"
    r"|\b(before|after) (you|calling|using|the (user|customer|caller))\b"
    r"|\b(wenn|falls|sobald|sofern|lorsque|quand|utilise[rz]?|cuando|usar?)\b"
    r"|当|如果|用于|用来|时|場景|场景|使用|场合|とき|場合|때|경우",
    re.IGNORECASE,
)
_VAGUE_VERBS: Final = (
    "tool function func do run execute exec call api action handle handler process main test helper util misc method"
)
_VAGUE_NOUNS: Final = (
    "query request invoke perform operation data get post put delete patch head it thing stuff my new the"
)
_VAGUE: Final = frozenset(f"{_VAGUE_VERBS} {_VAGUE_NOUNS}".split(" "))
_WRITES: Final = re.compile(
    r"^\s*(creates?|deletes?|removes?|updates?|cancels?|sends?|refunds?|pays?|writes?|overwrites?|changes?|sets?|adds?)\b",
    re.IGNORECASE,
)
_READS: Final = re.compile(
    r"\b(read[- ]only|changes nothing|does not (change|modify|write)|no side[- ]effects?)\b", re.IGNORECASE
)
_NO_PARAMETERS: Final = re.compile(
    r"\b(takes|needs|requires|has|expects) no (parameters?|arguments?|input)\b"
    r"|\bwithout (any )?(parameters?|arguments?)\b",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(
    r"`([A-Za-z_][A-Za-z0-9_]*)`(?= (?:parameter|argument)\b)|(?:parameter|argument)s? `([A-Za-z_]\w*)`"
)


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One thing that is wrong: ``rule``, ``tool`` (empty: all of them), where in its parameters, and what to do."""

    rule: str
    tool: str
    message: str
    advice: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Looked:
    """A tool and its parameters as a value."""

    tool: EvalTool
    schema: dict[str, Any]

    @property
    def properties(self) -> dict[str, Any]:
        """The schemas of its arguments by name."""
        found = self.schema.get("properties")
        return found if isinstance(found, dict) else {}

    @property
    def required(self) -> list[str]:
        """The names of arguments that must be there."""
        found = self.schema.get("required")
        return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []

    def finding(self, rule: str, message: str, advice: str, path: str = "") -> LintFinding:
        """A finding about this tool."""
        return LintFinding(rule, self.tool.name, message, advice, path)


def words_of(text: str) -> list[str]:
    """The words of a text or name in lower case, also those joined by ``_`` or by humps."""
    return [word.lower() for word in _WORD.findall(text)]


def n_words(text: str) -> int:
    """Words of a text; of scripts that do not part them, every second character counts."""
    return len(words_of(_CJK.sub(" ", text))) + len(_CJK.findall(text)) // 2


# ---------------------------------------------------------------- the rules


def name_findings(one: Looked) -> Iterator[LintFinding]:
    """Rules ``name-refused`` and ``name-vague``."""
    name = one.tool.name
    for rule in refused_by(name):
        yield one.finding("name-refused", f"{rule.provider} takes {rule.words}; {name!r} is refused", "rename the tool")
    words = words_of(name)
    if all(word in _VAGUE or len(word) < 3 or word.isdecimal() for word in words):
        yield one.finding(
            "name-vague", f"{name!r} does not say what the tool does to what", "name it verb and object: 'get_order'"
        )


def description_findings(one: Looked) -> Iterator[LintFinding]:
    """Rules ``description-…``."""
    text = one.tool.description.strip()
    if not text:
        yield one.finding("description-empty", "it has no description", "say what it does, and when to use it")
        return
    if set(words_of(text)) <= set(words_of(one.tool.name)) | {"a", "an", "the", "this", "tool"}:
        yield one.finding(
            "description-is-the-name",
            f"{text[:80]!r} says no more than the name",
            "say what it does, and when to use it",
        )
    elif n_words(text) < _FEWEST_WORDS:
        yield one.finding(
            "description-short", f"{text!r} is its whole description", "say what it does, and when to use it"
        )
    if len(text) > _LONGEST:
        yield one.finding(
            "description-long",
            f"{len(text):,} characters, more than {_LONGEST:,}, and sent with every request",
            "move rules of the conversation to the system prompt, and details of parameters to them",
        )
    if not _WHEN.search(text):
        yield one.finding(
            "description-no-when",
            "it does not say when the tool is to be used",
            "add a sentence such as 'Use this when …', and 'Not for …' where another tool is near",
        )
    yield from _contradictions(one, text)


def _contradictions(one: Looked, text: str) -> Iterator[LintFinding]:
    rule = "description-contradicts"
    if one.tool.read_only is True and _WRITES.search(text):
        yield one.finding(
            rule, "it is marked as read-only, and its description says that it writes", "correct one of them"
        )
    if one.tool.read_only is False and _READS.search(text):
        yield one.finding(
            rule, "it is marked as writing, and its description says that it only reads", "correct one of them"
        )
    if one.required and _NO_PARAMETERS.search(text):
        needs = ", ".join(map(repr, sorted(one.required)[:5]))
        yield one.finding(
            rule, f"its description says that it takes no arguments, and {needs} must be given", "correct one"
        )
    for name in sorted({first or second for first, second in _QUOTED.findall(text)} - one.properties.keys()):
        yield one.finding(
            rule, f"its description speaks of a parameter `{name}`, which it does not have", "correct one"
        )
