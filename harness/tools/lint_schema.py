"""Lint of the parameters of single tools, at any depth."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from harness.tools.lint_words import LintFinding, Looked, words_of

_MOST_PARAMETERS: Final = 12
_LONGEST: Final = 600
_DEEPEST: Final = 12
_SAID_BY_NAME: Final = 2
_KEY: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_TYPED: Final = ("type", "$ref", "enum", "const", "anyOf", "oneOf", "allOf", "not", "if")
_QUOTED_VALUE: Final = r"""(?:'[\w./+-]{1,30}'|"[\w./+-]{1,30}"|`[\w./+-]{1,30}`)"""
_LISTED_VALUES: Final = re.compile(
    rf"{_QUOTED_VALUE}(?:\s*(?:,|/|\||or|and|, or|oder|ou|或)\s*{_QUOTED_VALUE})+"
    r"|\b(?:one of|either|allowed(?: values)?(?: are)?|possible values(?: are)?|must be|valid values(?: are)?)\b:?\s*"
    r"[A-Za-z_]\w*(?:\s*(?:,|/|\|)\s*[A-Za-z_]\w*)*\s*(?:,|/|\||,?\s+or)\s*[A-Za-z_]\w*",
    re.IGNORECASE,
)
_OF_PARAMETERS: Final = re.compile(
    r"\s*(must|has to|have to|should|is|are) (be )?(provided|given|set|specified|required|present)"
)
_EXAMPLE: Final = re.compile(r"\b(e\.g\.|for example|for instance|such as|like|example)", re.IGNORECASE)


def schema_findings(one: Looked) -> Iterator[LintFinding]:
    """Rules ``parameter-…``, ``parameters-many`` and ``required-…``."""
    yield from _required(one)
    if len(one.properties) > _MOST_PARAMETERS:
        yield one.finding(
            "parameters-many",
            f"{len(one.properties)} parameters; models leave some out and confuse others",
            "split the tool, or give the rarer ones defaults of the server and leave them out",
        )
    defs = one.schema.get("$defs")
    for path, name, schema, is_read in _parameters(one.schema, "", 0):
        yield from _parameter(one, path, name, schema, is_read=is_read)
    for name, schema in sorted(defs.items()) if isinstance(defs, dict) else ():
        for path, key, inner, is_read in _parameters(schema, f"$defs.{name}", 0):
            yield from _parameter(one, path, key, inner, is_read=is_read)


def _required(one: Looked) -> Iterator[LintFinding]:
    names = one.properties.keys()
    for name in sorted(set(one.required) - names):
        yield one.finding(
            "required-unknown",
            f"{name!r} is required and is no parameter",
            "declare it, or take it out of 'required'",
            name,
        )
    if names and not one.required and not any("default" in _mapping(one.properties[name]) for name in names):
        yield one.finding(
            "required-missing",
            f"none of its {len(names)} parameters is required, so a call without any is valid",
            "list in 'required' what the tool cannot do without",
        )
    for name in sorted(set(one.required) & names):
        if "default" in _mapping(one.properties[name]):
            yield one.finding(
                "required-default", f"{name!r} is required and has a default", "take it out of 'required'", name
            )


def _mapping(schema: Any) -> Mapping[str, Any]:
    return schema if isinstance(schema, Mapping) else {}


def _parameters(schema: Any, path: str, depth: int) -> Iterator[tuple[str, str, Any, bool]]:
    """``(path, name, schema, named)`` of every parameter, nested ones too; an item of a list has no name of its own."""
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return
    properties = schema.get("properties")
    for name, inner in properties.items() if isinstance(properties, Mapping) else ():
        here = f"{path}.{name}" if path else name
        yield here, name, inner, True
        yield from _parameters(inner, here, depth + 1)
    items = schema.get("items")
    if isinstance(items, Mapping):
        yield f"{path}[]", "", items, False
        yield from _parameters(items, f"{path}[]", depth + 1)
    for key in ("allOf", "anyOf", "oneOf"):
        branches = schema.get(key)
        for branch in branches if isinstance(branches, list) else ():
            yield from _parameters(branch, path, depth + 1)


def _parameter(one: Looked, path: str, name: str, schema: Any, *, is_read: bool) -> Iterator[LintFinding]:
    if is_read and not _KEY.fullmatch(name):
        yield one.finding(
            "parameter-name",
            f"{name[:80]!r}: anthropic takes 1 to 64 letters, digits, '_', '.' and '-'",
            "rename it",
            path,
        )
    if not isinstance(schema, Mapping):
        yield one.finding("parameter-no-type", "anything is allowed", "give its 'type'", path)
        return
    yield from _type(one, path, schema)
    text = schema.get("description")
    text = text.strip() if isinstance(text, str) else ""
    if is_read:
        yield from _described(one, path, name, schema, text)
    if len(text) > _LONGEST:
        yield one.finding("parameter-long", f"{len(text):,} characters, more than {_LONGEST:,}", "say it shorter", path)
    if _is_text(schema) and "enum" not in schema and "pattern" not in schema and _lists_values(text):
        yield one.finding(
            "parameter-enum", f"its description lists its values: {text[:120]!r}", "write them as 'enum'", path
        )


def _lists_values(text: str) -> bool:
    found = _LISTED_VALUES.search(text)
    if found is None or _OF_PARAMETERS.match(text, found.end()):
        return False
    return not _EXAMPLE.search(text[max(0, found.start() - 20) : found.start()])


def _is_text(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") in ("string", ["string", "null"], ["null", "string"])


def _type(one: Looked, path: str, schema: Mapping[str, Any]) -> Iterator[LintFinding]:
    if not any(key in schema for key in (*_TYPED, "properties", "items")):
        yield one.finding("parameter-no-type", "it has no type, so anything is allowed", "give its 'type'", path)
    is_empty = not schema.get("properties") and not schema.get("additionalProperties") and not _branches(schema)
    if schema.get("type") == "object" and is_empty:
        yield one.finding("parameter-open", "an object of which nothing is said", "declare its 'properties'", path)
    if schema.get("type") == "array" and "items" not in schema and "prefixItems" not in schema:
        yield one.finding("parameter-open", "a list of which nothing is said", "declare its 'items'", path)


def _branches(schema: Mapping[str, Any]) -> bool:
    return any(key in schema for key in ("allOf", "anyOf", "oneOf", "$ref", "patternProperties", "enum", "const"))


def _described(one: Looked, path: str, name: str, schema: Mapping[str, Any], text: str) -> Iterator[LintFinding]:
    """A parameter needs a description unless its name says it: a yes or no, or a word that the tool's text explains."""
    if text and words_of(text) != words_of(name):
        return
    is_said = schema.get("type") == "boolean" and len(words_of(name)) > _SAID_BY_NAME
    if not is_said and "enum" not in schema and "const" not in schema and "$ref" not in schema:
        what = "only its name as a description" if text else "no description"
        yield one.finding(
            "parameter-undocumented", f"it has {what}", "say what it is, in which form, and where to take it from", path
        )
