"""``openapi:``: the operations of an OpenAPI document (3.0, 3.1) as tools; nothing is fetched, nothing is called."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from harness.errors import ConfigurationError, UnsupportedError
from harness.tools.names import portable_name, told_apart
from harness.tools.openapi_operation import Arguments, Operation, OperationReader
from harness.tools.openapi_refs import Refs
from harness.tools.replies import listed, shortened
from harness.tools.schemas_source import read_value
from harness.tools.sources import Found, RawTool, chosen_tools, finished
from harness.types.evaluation import ToolSource

METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
_VERSION: Final = re.compile(r"3\.([01])(\..*)?")
_WORD: Final = re.compile(r"[A-Za-z0-9]+")
_MOST_SHOWN: Final = 5


def openapi_tools(source: ToolSource, *, base: Path) -> Found:
    """A tool for each operation: called by its ``operationId``, else by method and path (``get_orders_by_id``).

    Names that providers refuse are changed, names that two operations share are told apart, credentials are kept
    from the model; all this is told in the notes. Raises ConfigurationError, UnsupportedError and ScenarioError.
    """
    document = read_value(base / source.location, source.location, any_keys=True)
    return tools_of_document(document, source)


def tools_of_document(document: Any, source: ToolSource) -> Found:
    """As :func:`openapi_tools`, of a document that was read already."""
    is_30 = _is_30(document, source.location)
    label = f"OpenAPI document {source.location!r}"
    refs = Refs(document, label)
    operations = list(_operations(document, refs, label))
    if not operations:
        raise ConfigurationError(f"{label}: it has no operations under 'paths'")
    named, notes = _named(operations)
    chosen, left_out = chosen_tools(list(named), source, label)
    reader = OperationReader(refs, label=label, is_30=is_30, keys=_keys(document, refs))
    raw: list[RawTool] = []
    hidden: dict[str, list[str]] = {}
    for tool in chosen:
        schema, read = reader.arguments(named[tool])
        raw.append(replace(tool, parameters=schema))
        notes += [f"{tool.name}: {note}" for note in read.notes]
        _gather(hidden, tool.name, read)
    notes += [f"kept from the model: {what} (in {_some(names)})" for what, names in sorted(hidden.items())]
    notes += [f"left out by 'only': {listed(left_out)}"] if left_out else []
    deprecated = sorted(tool.name for tool in chosen if named[tool].value.get("deprecated") is True)
    notes += [f"marked as deprecated: {listed(deprecated)}"] if deprecated else []
    found = finished(raw, replace(source, only=None), label, notes=notes)
    return replace(found, label=label + _title(document))


def _gather(hidden: dict[str, list[str]], tool: str, read: Arguments) -> None:
    for what in read.hidden:
        hidden.setdefault(what, []).append(tool)


def _some(names: list[str]) -> str:
    more = len(names) - _MOST_SHOWN
    return listed(sorted(names)[:_MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")


# ---------------------------------------------------------------- the document


def _is_30(document: Any, name: str) -> bool:
    if not isinstance(document, Mapping):
        raise ConfigurationError(f"OpenAPI document {name!r}: a mapping was expected")
    if "swagger" in document:
        raise UnsupportedError(f"OpenAPI document {name!r} is Swagger 2.0; convert it to OpenAPI 3")
    version = str(document.get("openapi", "missing"))
    match = _VERSION.fullmatch(version)
    if match is None:
        raise UnsupportedError(
            f"OpenAPI document {name!r}: its version is {shortened(version, 40)}; 3.0 and 3.1 are read"
        )
    return match[1] == "0"


def _title(document: Mapping[str, Any]) -> str:
    info = document.get("info")
    title, version = (info.get("title"), info.get("version")) if isinstance(info, Mapping) else (None, None)
    return f" ({shortened(str(title), 80)!r} {shortened(str(version), 40)})" if title else ""


def _operations(document: Mapping[str, Any], refs: Refs, label: str) -> Iterator[Operation]:
    paths = document.get("paths") or {}
    if not isinstance(paths, Mapping):
        raise ConfigurationError(f"{label}: 'paths' is a mapping")
    for path, entry in paths.items():
        if not path.startswith("/"):
            continue  # extensions
        shared = refs.followed(entry or {}, f"the path {shortened(path, 200)!r}")
        for method in METHODS:
            if shared.get(method) is not None:
                value = refs.followed(shared[method], f"{method.upper()} {shortened(path, 200)}")
                yield Operation(method.upper(), path, value, shared)


def _keys(document: Mapping[str, Any], refs: Refs) -> frozenset[tuple[str, str]]:
    """Where the security schemes put their keys: ``(place, name)`` in lower case."""
    components = document.get("components")
    schemes = components.get("securitySchemes") if isinstance(components, Mapping) else None
    found = set()
    for name, scheme in schemes.items() if isinstance(schemes, Mapping) else ():
        value = refs.followed(scheme, f"the security scheme {shortened(name, 80)!r}")
        if value.get("type") == "apiKey":
            found.add((str(value.get("in")).lower(), str(value.get("name")).lower()))
    return frozenset(found)


# ---------------------------------------------------------------- names


def _named(operations: list[Operation]) -> tuple[dict[RawTool, Operation], list[str]]:
    """The operations by tool, still without arguments; and what was done to their names."""
    ids = [_operation_id(one) for one in operations]
    doubles = sorted({one for one in ids if one is not None and ids.count(one) > 1})
    keys = {one.key for one in operations}
    wanted = {_source_name(one, {*doubles, *keys}): one for one in operations}
    names = told_apart([(key, _wanted_name(key, one)) for key, one in wanted.items()])
    tools = {
        RawTool(
            names[key],
            _description(one.value),
            None,
            original=None if key == names[key] else (_operation_id(one) or one.key),
            read_only=one.method in _SAFE,
        ): one
        for key, one in wanted.items()
    }
    return tools, list(_name_notes(wanted, names, doubles))


def _operation_id(operation: Operation) -> str | None:
    found = operation.value.get("operationId")
    return found if isinstance(found, str) and found.strip() else None


def _source_name(operation: Operation, doubles: Collection[str]) -> str:
    """What tells the operation from all others: its id where no other has it, else method and path."""
    own = _operation_id(operation)
    return operation.key if own is None or own in doubles else own


def _wanted_name(key: str, operation: Operation) -> str:
    return _operation_id(operation) or _made_name(operation)


def _made_name(operation: Operation) -> str:
    """``GET /orders/{id}/items`` is ``get_orders_by_id_items``."""
    parts = [f"by_{part}" if part.startswith("{") else part for part in operation.path.split("/")]
    words = [word for part in parts for word in _WORD.findall(part.replace("_", " "))]
    return portable_name("_".join([operation.method.lower(), *words]))


def _name_notes(wanted: Mapping[str, Operation], names: Mapping[str, str], doubles: list[str]) -> Iterator[str]:
    without = [key for key, one in wanted.items() if _operation_id(one) is None]
    if without:
        yield f"{len(without)} operations have no operationId; method and path make their names ({_some(without)})"
    for double in doubles:
        both = sorted(key for key, one in wanted.items() if _operation_id(one) == double)
        told = listed([f"{key} is {names[key]!r}" for key in both])
        yield f"several operations have the operationId {shortened(double, 80)!r}: {told}"
    for key, one in wanted.items():
        if _operation_id(one) == key and names[key] != key:
            yield f"operation {shortened(key, 200)!r} is offered as {names[key]!r}"


def _description(operation: Mapping[str, Any]) -> str:
    """Summary and description, one behind the other; deprecated operations say so first."""
    texts = [operation.get(key) for key in ("summary", "description")]
    said = [text.strip() for text in texts if isinstance(text, str) and text.strip()]
    if len(said) == 2 and said[1].startswith(said[0].rstrip(".")):
        said = said[1:]
    marked = ["Deprecated."] if operation.get("deprecated") is True else []
    return "\n\n".join([*marked, *said])
