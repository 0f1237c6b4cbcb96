"""A page as a strict parser reads it: its elements, and the values of its blocks."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any
from xml.etree.ElementTree import Element

import html5lib

_NS = "{http://www.w3.org/1999/xhtml}"
Tag = tuple[str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True)
class Page:
    """``tags``: each element with its attributes, in order; ``blocks``: the values of data; ``texts``: of scripts."""

    tags: tuple[Tag, ...]
    blocks: dict[str, Any]
    scripts: tuple[str, ...]
    styles: tuple[str, ...]


def read_page(data: bytes) -> Page:
    """Raises html5lib's ParseError for anything that the standard calls an error."""
    root = html5lib.HTMLParser(strict=True).parse(data)
    elements = list(root.iter())
    assert all(isinstance(one.tag, str) for one in elements), "a comment"
    scripts = [one for one in elements if one.tag == f"{_NS}script"]
    blocks = {one.get("id", ""): json.loads(one.text or "", parse_constant=_refuse) for one in scripts if one.get("id")}
    return Page(
        tuple(_tag(one) for one in elements),
        blocks,
        tuple(one.text or "" for one in scripts if not one.get("id")),
        tuple(one.text or "" for one in elements if one.tag == f"{_NS}style"),
    )


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _tag(one: Element) -> Tag:
    return one.tag.removeprefix(_NS), tuple(sorted(one.attrib.items()))


class _Tags(HTMLParser):
    """What another parser takes for elements and comments."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[Tag] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(sorted((name, value or "") for name, value in attrs))))

    def handle_comment(self, data: str) -> None:
        self.tags.append(("comment", ((data, ""),)))


def other_tags(data: bytes) -> tuple[Tag, ...]:
    """The elements as the standard library's parser reads them."""
    reader = _Tags()
    reader.feed(data.decode("utf-8"))
    reader.close()
    return tuple(reader.tags)


def texts_of(value: Any) -> set[str]:
    """All texts in a value, keys left out."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, dict):
        return {text for item in value.values() for text in texts_of(item)}
    if isinstance(value, list):
        return {text for item in value for text in texts_of(item)}
    return set()


def shape_of(value: Any) -> Any:
    """The keys and lengths of a value, its texts and numbers left out."""
    if isinstance(value, dict):
        return {key: shape_of(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape_of(item) for item in value]
    return type(value).__name__
