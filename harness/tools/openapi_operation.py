"""One operation of an OpenAPI document as the arguments of a tool.

Every parameter is an argument under its name, a body the argument ``body``. What the client itself sends (keys,
tokens, cookies, the type of the content) is kept from the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from harness.errors import ConfigurationError
from harness.tools.names import name_hash
from harness.tools.openapi_refs import Refs
from harness.tools.openapi_schema import SchemaReader
from harness.tools.replies import listed, shortened

PLACES: Final = ("path", "query", "header", "cookie")
_SENT_BY_THE_CLIENT: Final = frozenset(
    {"authorization", "proxy-authorization", "cookie", "accept", "content-type", "accept-encoding", "user-agent"}
)
_CREDENTIAL: Final = re.compile(
    r"(x-)?(api[-_]?key|(access|auth|refresh|csrf|xsrf)[-_]?token|client[-_]secret|app[-_](key|secret))", re.IGNORECASE
)
_SESSION: Final = re.compile(r"(.*[._-])?sid|.*(session|token|auth|csrf|xsrf|jwt).*", re.IGNORECASE)
_FITTING: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_UNFITTING: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_TEMPLATE: Final = re.compile(r"\{([^{}]+)\}")
_JSON: Final = re.compile(r"application/(.+\+)?json(;.*)?|text/json(;.*)?", re.IGNORECASE)
_FORM: Final = re.compile(r"application/x-www-form-urlencoded|multipart/form-data", re.IGNORECASE)
_LONGEST_NAME: Final = 200


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation where it stands: ``GET``, ``/orders/{id}``, its mapping, and that of its path."""

    method: str
    path: str
    value: Mapping[str, Any]
    shared: Mapping[str, Any]

    @property
    def key(self) -> str:
        """``GET /orders/{id}``."""
        return f"{self.method} {self.path}"


@dataclass(slots=True)
class Arguments:
    """The arguments of a tool while they are gathered, and what there is to tell of them."""

    properties: dict[str, Any] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)


class OperationReader:
    """Reads operations of one document. ``keys`` are the ``(place, name)`` of its security schemes, in lower case."""

    def __init__(self, refs: Refs, *, label: str, is_30: bool, keys: frozenset[tuple[str, str]]) -> None:
        self._refs = refs
        self._label = label
        self._is_30 = is_30
        self._keys = keys

    def arguments(self, operation: Operation) -> tuple[dict[str, Any], Arguments]:
        """The JSON Schema of an operation's arguments, and what was done to it. Raises ConfigurationError."""
        where = f"{self._label}: {shortened(operation.key, _LONGEST_NAME)}"
        schemas = SchemaReader(self._refs, where=where, is_30=self._is_30)
        read = Arguments()
        parameters = self._parameters(operation, where)
        names = _argument_names(parameters, read)
        for (place, name), parameter in parameters.items():
            if self._is_hidden(place, name):
                read.hidden.append(f"{place} {name!r}")
                continue
            self._add(names[place, name], parameter, schemas, read, where)
            if place == "path" or parameter.get("required") is True:
                read.required.append(names[place, name])
        self._add_body(operation, schemas, read, where)
        schema = {"type": "object", "properties": read.properties, "additionalProperties": False}
        if read.required:
            schema["required"] = sorted(set(read.required))
        defs = schemas.finish()
        return ({**schema, "$defs": defs} if defs else schema), read

    def _parameters(self, operation: Operation, where: str) -> dict[tuple[str, str], Mapping[str, Any]]:
        """By place and name; the operation's own take the place of those of its path."""
        found: dict[tuple[str, str], Mapping[str, Any]] = {}
        for holder in (operation.shared, operation.value):
            entries = holder.get("parameters") or []
            if not isinstance(entries, list):
                raise ConfigurationError(f"{where}: 'parameters' is a list")
            for entry in entries:
                parameter = self._refs.followed(entry, f"a parameter of {operation.key}")
                found[_place_and_name(parameter, where)] = parameter
        for name in _TEMPLATE.findall(operation.path):
            found.setdefault(("path", name), {"schema": {"type": "string"}, "required": True})
        return dict(sorted(found.items(), key=lambda item: PLACES.index(item[0][0])))

    def _is_hidden(self, place: str, name: str) -> bool:
        low = name.lower()
        if (place, low) in self._keys or (place == "header" and low in _SENT_BY_THE_CLIENT):
            return True
        if place == "cookie" and _SESSION.fullmatch(low):
            return True
        return place != "path" and _CREDENTIAL.fullmatch(low) is not None

    def _add(self, name: str, parameter: Mapping[str, Any], schemas: SchemaReader, read: Arguments, where: str) -> None:
        contents = _contents(parameter, where)
        schema = parameter.get("schema")
        if schema is None:
            schema = next(iter(contents.values()), {}).get("schema", {})
        read.properties[name] = _with_words(schemas.read(schema), parameter, *contents.values())

    def _add_body(self, operation: Operation, schemas: SchemaReader, read: Arguments, where: str) -> None:
        if operation.value.get("requestBody") is None:
            return
        body = self._refs.followed(operation.value["requestBody"], f"the body of {operation.key}")
        contents = _contents(body, where)
        kind = _content_kind(contents)
        if kind is None:
            if contents:
                read.notes.append(f"its body is left out; it is {listed(sorted(contents))}, not JSON")
            return
        if not _JSON.fullmatch(kind) and kind != "*/*":
            read.notes.append(f"its body is {kind}; its fields are offered as those of an object")
        name = "body" if "body" not in read.properties else "request_body"
        read.properties[name] = _with_words(schemas.read(contents[kind].get("schema", {})), body, contents[kind])
        if body.get("required") is True:
            read.required.append(name)


def _with_words(schema: Any, *holders: Mapping[str, Any]) -> Any:
    """The schema with the description and the examples of the parameter or body that holds it."""
    words: dict[str, Any] = {}
    for holder in holders:
        if isinstance(holder.get("description"), str) and holder["description"].strip():
            words.setdefault("description", holder["description"])
        if holder.get("deprecated") is True:
            words["deprecated"] = True
        if examples := list(_examples(holder)):
            words.setdefault("examples", examples)
    if not words or schema is False:
        return schema
    return {**({} if schema is True else schema), **words}


def _examples(holder: Mapping[str, Any]) -> Iterator[Any]:
    if "example" in holder:
        yield holder["example"]
    named = holder.get("examples")
    for one in named.values() if isinstance(named, Mapping) else ():
        if isinstance(one, Mapping) and "value" in one:
            yield one["value"]


def _place_and_name(parameter: Mapping[str, Any], where: str) -> tuple[str, str]:
    place, name = parameter.get("in"), parameter.get("name")
    if place not in PLACES or not isinstance(name, str) or not name:
        raise ConfigurationError(
            f"{where}: a parameter needs a 'name' and 'in' ({listed(PLACES)}), not {shortened(repr((name, place)), 80)}"
        )
    return str(place), name


def _argument_names(parameters: Mapping[tuple[str, str], Any], read: Arguments) -> dict[tuple[str, str], str]:
    """The argument's name for each parameter: its own, made fit for providers, with its place where two are equal."""
    made: dict[tuple[str, str], str] = {}
    counts: dict[str, int] = {}
    for _, name in parameters:
        counts[name] = counts.get(name, 0) + 1
    wanted = {(place, name): f"{name}_{place}" if counts[name] > 1 else name for place, name in parameters}
    for place, name in sorted(
        wanted, key=lambda one: _FITTING.fullmatch(wanted[one]) is None
    ):  # who fits keeps his name
        fitting = _fitting(wanted[place, name])
        if fitting in made.values():
            fitting = f"{fitting[:57]}_{name_hash(f'{place} {name}')}"
        made[place, name] = fitting
    for (place, name), argument in sorted(made.items()):
        if argument != name:
            read.notes.append(f"{place} parameter {shortened(name, _LONGEST_NAME)!r} is the argument {argument!r}")
    return made


def _fitting(name: str) -> str:
    if _FITTING.fullmatch(name):
        return name
    made = _UNFITTING.sub("_", name).strip("_") or f"argument_{name_hash(name)}"
    return made if len(made) <= 64 else f"{made[:57]}_{name_hash(name)}"


def _contents(holder: Mapping[str, Any], where: str) -> dict[str, Mapping[str, Any]]:
    contents = holder.get("content") or {}
    if not isinstance(contents, Mapping):
        raise ConfigurationError(f"{where}: 'content' is a mapping by media type")
    return {kind: one for kind, one in contents.items() if isinstance(one, Mapping)}


def _content_kind(contents: Mapping[str, Any]) -> str | None:
    """The media type that a tool's arguments can be: JSON, else a form."""
    return next(_kinds(contents), None)


def _kinds(contents: Mapping[str, Any]) -> Iterator[str]:
    yield from (kind for kind in contents if kind.lower().startswith("application/json"))
    yield from (kind for kind in contents if _JSON.fullmatch(kind) or kind == "*/*")
    yield from (kind for kind in contents if _FORM.match(kind))
