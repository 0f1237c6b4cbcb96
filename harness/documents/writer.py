"""Writing: plain JSON values as YAML that a person would have written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import yaml

from harness.documents.core import plain_scalar
from harness.types.jsontext import canonical_json, clean_text

_FLOW_CHARS: Final = 72
_NO_FOLDING: Final = 1 << 30
_NEEDS_ESCAPES: Final = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


def dump_yaml(value: Any) -> str:
    """The YAML text of a plain JSON value; ``load_document`` gives the value back.

    Keys in the order given, LF line ends, several lines as block text, short leaves on one line.
    Text that another YAML reader would take for something else is quoted. Raises InvalidValueError
    for NaN, infinities, cycles, keys that are not text, and nesting beyond 200 levels.
    """
    canonical_json(value)  # refuses what is not JSON, before anything is written
    text: str = yaml.dump(
        value,
        Dumper=_Dumper,
        allow_unicode=True,
        default_flow_style=False,
        sort_keys=False,
        width=_NO_FOLDING,
        line_break="\n",
        indent=2,
    )
    return text[:-4] if text.endswith("\n...\n") else text


class _Dumper(yaml.SafeDumper):
    """PyYAML's writer without aliases, with lists indented, and with quotes where 1.1 or 1.2 needs them."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def represent(self, data: Any) -> None:
        node = self.represent_data(data)
        if isinstance(node, yaml.MappingNode) and node.value:
            node.flow_style = False
        self.serialize(node)

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        tag: Any = super().resolve(kind, value, implicit)  # type: ignore[no-untyped-call]
        if kind is yaml.ScalarNode and implicit[0] and tag == "tag:yaml.org,2002:str" and not _is_text(value):
            return "tag:yaml.org,2002:other"  # no node has it, so that text of this look is quoted
        return tag


def _is_text(plain: str) -> bool:
    """Whether an unquoted scalar is text under the core schema too."""
    try:
        return isinstance(plain_scalar(plain), str)
    except ValueError:
        return False


def _write_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    text = clean_text(text)
    style = '"' if _NEEDS_ESCAPES.search(text) else ("|" if _reads_as_block(text) else '"') if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _reads_as_block(text: str) -> bool:
    return bool(text.strip("\n")) and not any(line.endswith((" ", "\t")) for line in text.split("\n"))


def _write_mapping(dumper: _Dumper, fields: Mapping[str, Any]) -> yaml.MappingNode:
    node = dumper.represent_mapping("tag:yaml.org,2002:map", fields.items())
    node.flow_style = all(_is_short(value) for _, value in node.value) and _n_chars(node) <= _FLOW_CHARS
    return node


def _write_list(dumper: _Dumper, items: Any) -> yaml.SequenceNode:
    node = dumper.represent_sequence("tag:yaml.org,2002:seq", items)
    leaves = not any(isinstance(item, yaml.MappingNode) for item in node.value)
    node.flow_style = leaves and all(map(_is_short, node.value)) and _n_chars(node) <= _FLOW_CHARS
    if not node.flow_style:
        for item in node.value:
            item.flow_style = isinstance(item, yaml.CollectionNode) and (
                not item.value or (isinstance(item, yaml.SequenceNode) and bool(item.flow_style))
            )
    return node


def _is_short(node: yaml.Node) -> bool:
    if isinstance(node, yaml.ScalarNode):
        return "\n" not in node.value
    return isinstance(node, yaml.CollectionNode) and bool(node.flow_style)


def _n_chars(node: Any) -> int:
    """About how many characters a node takes on one line."""
    if isinstance(node, yaml.ScalarNode):
        return len(node.value) + 2
    if isinstance(node, yaml.MappingNode):
        return sum(_n_chars(key) + _n_chars(value) for key, value in node.value) + 2
    return sum(map(_n_chars, node.value)) + 2


_Dumper.add_representer(str, _write_text)
_Dumper.add_representer(dict, _write_mapping)
_Dumper.add_representer(list, _write_list)
_Dumper.add_representer(tuple, _write_list)
