"""One line of a BFCL file, taken apart strictly: every refusal names file, line, id and place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

from harness.formats.values import Document
from harness.types.bfcl import LIST_TYPES, TYPE_NAMES, BfclFunction, Language
from harness.types.jsontext import canonical_json
from harness.types.messages import ChatAssistant, ChatMessage, ChatSystem, ChatUser

_ROLES: Final[dict[str, Callable[..., ChatMessage]]] = {
    "system": ChatSystem,
    "user": ChatUser,
    "assistant": ChatAssistant,
}


class Row:
    """An object of a file, with where it stands. Its readings raise ForeignFormatError."""

    def __init__(self, document: Document, line: int, value: Any) -> None:
        self.document, self.line = document, line
        if not isinstance(value, dict):
            document.refuse(f"expected an object with an id, was {value!r:.80}", line)
        self.fields: dict[str, Any] = value
        self.id = self.text(value, "id", "id")

    def refuse(self, why: str) -> NoReturn:
        """Raise ForeignFormatError for this row."""
        self.document.refuse(f"{self.fields.get('id', 'a row')!r}: {why}", self.line)

    def known(self, required: set[str], optional: frozenset[str] = frozenset()) -> None:
        """Refuse a row that lacks a field, or has one that is not known."""
        if missing := sorted(required - set(self.fields)):
            self.refuse(f"lacks {', '.join(missing)}")
        if unknown := sorted(set(self.fields) - required - optional):
            self.refuse(f"has fields that are not known: {', '.join(unknown)}")

    def text(self, holder: dict[str, Any], key: str, path: str) -> str:
        """The text of a field."""
        value = holder.get(key)
        if not isinstance(value, str) or (key in {"id", "name"} and not value):
            self.refuse(f"{path} must be text, was {value!r:.80}")
        return value

    def texts(self, value: Any, path: str) -> tuple[str, ...]:
        """A list of texts."""
        return tuple(
            part if isinstance(part, str) else self.refuse(f"{path} must hold texts, was {part!r:.80}")
            for part in self.listed(value, path)
        )

    def listed(self, value: Any, path: str) -> list[Any]:
        """A list."""
        return value if isinstance(value, list) else self.refuse(f"{path} must be a list, was {value!r:.80}")

    def object(self, value: Any, path: str) -> dict[str, Any]:
        """An object."""
        return value if isinstance(value, dict) else self.refuse(f"{path} must be an object, was {value!r:.80}")

    def messages(self, value: Any, path: str) -> tuple[ChatMessage, ...]:
        """The messages of a turn."""
        return tuple(self._message(part, f"{path}[{i}]") for i, part in enumerate(self.listed(value, path)))

    def _message(self, value: Any, path: str) -> ChatMessage:
        message = self.object(value, path)
        if set(message) != {"role", "content"}:
            self.refuse(f"{path} must have role and content and nothing else, has {', '.join(sorted(message))}")
        content = self.text(message, "content", f"{path}.content")
        role = self.text(message, "role", f"{path}.role")
        if role not in _ROLES:
            self.refuse(f"{path}.role must be {', '.join(_ROLES)}; was {role!r:.40}")
        return _ROLES[role](content=content)

    def functions(self, value: Any, path: str, language: Language) -> tuple[BfclFunction, ...]:
        """The functions that are offered; two of one name are refused."""
        found = tuple(
            self.function(self.object(part, f"{path}[{i}]"), f"{path}[{i}]", language)
            for i, part in enumerate(self.listed(value, path))
        )
        names = [function.name for function in found]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            self.refuse(f"{path} has two functions of the name {twice[0]!r}")
        return found

    def function(self, value: dict[str, Any], path: str, language: Language) -> BfclFunction:
        """One function; its types must be those of the language, and its lists must say of what."""
        parameters = self.object(value.get("parameters"), f"{path}.parameters")
        if parameters.get("type") != "dict":
            self.refuse(f"{path}.parameters.type must be 'dict', was {parameters.get('type')!r:.40}")
        self._properties(parameters, f"{path}.parameters", language)
        return BfclFunction(
            name=self.text(value, "name", f"{path}.name"),
            description=self.text(value, "description", f"{path}.description"),
            parameters=canonical_json(parameters),
        )

    def _properties(self, holder: dict[str, Any], path: str, language: Language) -> None:
        declared = self.object(holder.get("properties"), f"{path}.properties")
        for name, schema in declared.items():
            self._schema(self.object(schema, f"{path}.properties.{name}"), f"{path}.properties.{name}", language)
        self.texts(holder.get("required", []), f"{path}.required")

    def _schema(self, schema: dict[str, Any], path: str, language: Language) -> None:
        kind = schema.get("type")
        if kind not in TYPE_NAMES[language]:
            self.refuse(f"{path}.type must be a type of {language}, was {kind!r:.40}")
        if kind in LIST_TYPES:
            self._schema(self.object(schema.get("items"), f"{path}.items"), f"{path}.items", language)
        if "properties" in schema:
            self._properties(schema, path, language)
