"""The reference page: one entry for each name of the public surface, from signatures and docstrings."""

import ast
import dataclasses
import enum
import importlib
import inspect
from collections.abc import Iterator
from itertools import pairwise
from types import ModuleType
from typing import Any

HEAD = """# Reference

Made by `make docs` from the docstrings. Everything here can be imported from `harness`; what is not here may change
without a word.
"""


class UndocumentedName(Exception):
    """A public name without a docstring: names it and its module."""


def home_of(name: str) -> ModuleType:
    """The module that a public name is loaded from."""
    surface = importlib.import_module("harness")
    return importlib.import_module(surface._HOMES[name])


def docstring(name: str, home: ModuleType) -> str:
    """The docstring of a class or function, or the text below an assignment. Raises UndocumentedName."""
    value = getattr(home, name)
    if inspect.isclass(value) or inspect.isroutine(value):
        text = inspect.cleandoc(value.__dict__.get("__doc__") or "" if inspect.isclass(value) else value.__doc__ or "")
        made_by_dataclass = text.startswith(f"{name}(") and dataclasses.is_dataclass(value)
        text = "" if made_by_dataclass else text
    else:
        text = _text_below_assignment(name, home)
    if not text:
        raise UndocumentedName(f"{name!r} in {home.__name__} has no docstring; it is public, so write one")
    return text


def _text_below_assignment(name: str, home: ModuleType) -> str:
    """The string literal after `name = …` in the module's source, or nothing."""
    body = ast.parse(inspect.getsource(home)).body
    for statement, following in pairwise(body):
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        named = any(isinstance(target, ast.Name) and target.id == name for target in targets)
        if named and isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            return inspect.cleandoc(str(following.value.value))
    return ""


class _Written:
    """Shown as the given text: annotations as written in the source, defaults without addresses."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _annotation(value: Any) -> Any:
    return _Written(value) if isinstance(value, str) else value


def _default(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return _Written(f"{type(value).__name__}.{value.name}")
    return _Written(value.__name__) if inspect.isroutine(value) else value


def _signature(value: Any) -> str:
    """`(a, *, b=1) -> T`, with annotations as they are written in the source."""
    signature = inspect.signature(value)
    parameters = [
        parameter.replace(annotation=_annotation(parameter.annotation), default=_default(parameter.default))
        for parameter in signature.parameters.values()
    ]
    return str(signature.replace(parameters=parameters, return_annotation=_annotation(signature.return_annotation)))


def _methods(value: type) -> Iterator[str]:
    """Public methods and properties that the class itself defines, in source order."""
    for name, member in value.__dict__.items():
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            yield f"- `{name}`: {_first_line(member.fget)}"
        elif isinstance(member, classmethod | staticmethod):
            yield f"- `{name}{_signature(member.__func__)}`: {_first_line(member.__func__)}"
        elif inspect.isfunction(member):
            yield f"- `{name}{_signature(member)}`: {_first_line(member)}"


def _first_line(function: Any) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


def _heading(name: str, value: Any) -> str:
    """One line of code that says what the name is."""
    if inspect.isclass(value):
        if dataclasses.is_dataclass(value):
            return f"class {name}{_signature(value).removesuffix(' -> None')}"
        bases = ", ".join(base.__name__ for base in value.__bases__ if base is not object)
        return f"class {name}({bases})" if bases else f"class {name}"
    if inspect.iscoroutinefunction(value):
        return f"async def {name}{_signature(value)}"
    return f"def {name}{_signature(value)}" if inspect.isroutine(value) else name


def entry(name: str) -> str:
    """The entry of one name. Raises UndocumentedName."""
    home = home_of(name)
    value = getattr(home, name)
    lines = [f"## {name}", "", "```python", _heading(name, value), "```", "", f"From `{home.__name__}`.", ""]
    lines.append(docstring(name, home))
    if inspect.isclass(value) and issubclass(value, enum.Enum):
        lines += ["", *(f"- `{member.name}` = `{member.value!r}`" for member in value)]
    elif inspect.isclass(value) and (methods := list(_methods(value))):
        lines += ["", *(line.removesuffix(": ") for line in methods)]
    return "\n".join(lines) + "\n"


def page() -> str:
    """The whole page, names in the order of `__all__`."""
    surface = importlib.import_module("harness")
    return "\n".join([HEAD, *(entry(name) for name in surface.__all__)])
