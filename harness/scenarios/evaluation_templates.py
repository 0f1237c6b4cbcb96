"""Templates: ``{name}`` in the texts of a case, given the values of a row."""

from __future__ import annotations

import re
from typing import Any, Final

from harness.plugins import suggestion
from harness.scenarios.base import complaint
from harness.types.jsontext import canonical_json

_PLACE: Final = re.compile(r"\{\{(?P<kept>\w+)\}\}|\{(?P<name>\w+)\}")


def substituted(template: dict[str, Any], row: dict[str, Any], number: int) -> dict[str, Any]:
    """The fields with the row's values in every text, names of arguments included.

    A text that is ``{name}`` and nothing else becomes the value itself, with its type; inside other text a value
    that is no text stands as JSON. ``{{name}}`` is the text ``{name}``. Raises a complaint for a name that the row
    does not have, and for a value that is used nowhere.
    """
    used: set[str] = set()
    given: dict[str, Any] = {name: _in(value, row, number, used, (name,)) for name, value in template.items()}
    idle = next((name for name in row if name not in used), None)
    if idle is not None:
        what = f"is used nowhere; write {{{idle}}} where it belongs, or leave it out"
        raise complaint(what, field=("each", number, idle))
    return given


def _in(value: Any, row: dict[str, Any], number: int, used: set[str], path: tuple[str | int, ...]) -> Any:
    if isinstance(value, str):
        return _text(value, row, number, used, path)
    if isinstance(value, list):
        return [_in(part, row, number, used, (*path, at)) for at, part in enumerate(value)]
    if isinstance(value, dict):
        pairs = [(_key(key, row, number, used, path), key, part) for key, part in value.items()]
        made = {name: _in(part, row, number, used, (*path, key)) for name, key, part in pairs}
        if len(made) < len(pairs):
            raise complaint(f"has two fields of one name in row {number + 1} of 'each'", field=path)
        return made
    return value


def _key(key: str, row: dict[str, Any], number: int, used: set[str], path: tuple[str | int, ...]) -> str:
    name = _text(key, row, number, used, (*path, key))
    if not isinstance(name, str):
        raise complaint(f"is a name, and row {number + 1} of 'each' gives no text for it", field=(*path, key))
    return name


def _text(text: str, row: dict[str, Any], number: int, used: set[str], path: tuple[str | int, ...]) -> Any:
    def value(found: re.Match[str]) -> Any:
        name = found["name"]
        if name not in row:
            raise complaint(
                f"{{{name}}} has no value in row {number + 1} of 'each'{suggestion(name, row)}; "
                f"write {{{{{name}}}}} for the text {{{name}}} itself",
                field=path,
            )
        used.add(name)
        return row[name]

    whole = _PLACE.fullmatch(text)
    if whole is not None and whole["name"] is not None:
        return value(whole)
    return _PLACE.sub(lambda found: f"{{{found['kept']}}}" if found["kept"] else _written(value(found)), text)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else canonical_json(value)
