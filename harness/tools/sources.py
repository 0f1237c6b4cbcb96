"""What every source of tools comes to: raw tools as it gave them, then tools as a model is offered them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from harness import plugins
from harness.errors import ConfigurationError, HarnessError
from harness.tools.names import told_apart
from harness.tools.replies import listed, shortened
from harness.tools.schema import ArgumentSchema, schema_text
from harness.types.evaluation import EvalTool, ToolSource
from harness.types.jsontext import clean_text
from harness.types.messages import JsonText

MOST_TOOLS: Final = 2_000
"""Tools that one source may offer; a longer list is refused."""
LONGEST_SCHEMA: Final = 262_144
"""Characters of one tool's parameters as canonical JSON, at most."""
LONGEST_DESCRIPTION: Final = 100_000
"""Characters of one tool's description, at most."""


@dataclass(frozen=True, slots=True)
class RawTool:
    """A tool as its source tells it: any name, any value for a schema. ``original`` where ``name`` was made up."""

    name: str
    description: str
    parameters: Any
    original: str | None = None
    read_only: bool | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The tools of one source: ``label`` says which source, ``notes`` what was changed or left out."""

    label: str
    tools: tuple[EvalTool, ...]
    notes: tuple[str, ...] = ()


def finished(
    raw: Sequence[RawTool],
    source: ToolSource,
    label: str,
    *,
    notes: Iterable[str] = (),
    fault: type[HarnessError] = ConfigurationError,
) -> Found:
    """Choose by ``only``, name by the rules of providers, check every schema.

    Raises ``fault`` for what the source did wrong (doubles, no JSON Schema, too much), ConfigurationError for an
    ``only`` that names what is not there, or a ``prefix`` that no name may have.
    """
    _refuse_too_many(raw, label, fault)
    _refuse_doubles(raw, label, fault)
    chosen, left_out = chosen_tools(raw, source, label)
    names = told_apart([(tool.name, source.prefix + tool.name) for tool in chosen])
    _refuse_equal(names, label, fault)
    tools = [_finished(tool, names[tool.name], label, fault) for tool in chosen]
    renamed = [f"{label}: {tool.name!r} is offered as {names[tool.name]!r}" for tool in chosen if _noted(tool, names)]
    dropped = [f"{label}: left out by 'only': {listed(left_out)}"] if left_out else []
    told = [f"{label}: {note}" for note in (*notes, *(() if raw else ("offers no tools",)))]
    return Found(label, tuple(sorted(tools, key=lambda tool: tool.name)), (*told, *renamed, *dropped))


def _noted(tool: RawTool, names: Mapping[str, str]) -> bool:
    return names[tool.name] != tool.name


def _refuse_too_many(raw: Sequence[RawTool], label: str, fault: type[HarnessError]) -> None:
    if len(raw) > MOST_TOOLS:
        raise fault(f"{label}: {len(raw):,} tools; at most {MOST_TOOLS:,} are taken from one source")


def _refuse_doubles(raw: Sequence[RawTool], label: str, fault: type[HarnessError]) -> None:
    names = [tool.name for tool in raw]
    doubles = sorted({repr(name) for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if doubles:
        raise fault(f"{label}: several tools are called {listed(doubles)}; a model could not tell them apart")


def _refuse_equal(names: Mapping[str, str], label: str, fault: type[HarnessError]) -> None:
    if len(set(names.values())) < len(names):  # a hash that another tool already carries as its own name
        both = sorted(original for original in names if list(names.values()).count(names[original]) > 1)
        raise fault(f"{label}: {listed(both)} come to one name; rename one of them at the source")


def chosen_tools(raw: Sequence[RawTool], source: ToolSource, label: str) -> tuple[list[RawTool], list[str]]:
    """Those that ``only`` names, and the names of the others. Raises ConfigurationError for an unknown name."""
    if source.only is None:
        return list(raw), []
    known = {name for tool in raw for name in (tool.name, tool.original) if name is not None}
    unknown = [name for name in source.only if name not in known]
    if unknown:
        raise ConfigurationError(
            f"{label}: 'only' names {unknown[0]!r}, which it does not offer{plugins.suggestion(unknown[0], known)}"
        )
    chosen = [tool for tool in raw if tool.name in source.only or tool.original in source.only]
    return chosen, sorted(tool.name for tool in raw if tool not in chosen)


def _finished(tool: RawTool, name: str, label: str, fault: type[HarnessError]) -> EvalTool:
    parameters = _parameters(tool, label, fault)
    description = clean_text(tool.description)
    if len(description) > LONGEST_DESCRIPTION or len(parameters) > LONGEST_SCHEMA:
        raise fault(
            f"{label}: tool {tool.name!r} is too large ({len(description):,} characters of description, "
            f"{len(parameters):,} of parameters; at most {LONGEST_DESCRIPTION:,} and {LONGEST_SCHEMA:,})"
        )
    original = clean_text(tool.original if tool.original is not None else tool.name)
    return EvalTool(name, description, parameters, None if original == name else original, tool.read_only)


def _parameters(tool: RawTool, label: str, fault: type[HarnessError]) -> JsonText:
    try:
        text = schema_text(tool.name, with_object_type(tool.parameters))
        ArgumentSchema(tool.name, text)
    except ConfigurationError as error:
        raise fault(f"{label}: {shortened(str(error), 600)}") from None
    return text


def with_object_type(parameters: Any) -> Any:
    """A schema of arguments with the ``type`` and ``properties`` that providers want to see; it means the same."""
    if not isinstance(parameters, Mapping):
        return parameters
    return {"type": "object", "properties": {}, **parameters}
