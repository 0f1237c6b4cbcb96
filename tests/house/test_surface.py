"""The public surface is a list: exact, sorted, lazy, documented, used in tests, seen by type checkers."""

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

import harness
from docs import reference
from tests.house.gates import rooms
from tests.house.source import REPO, Source

HOUSE_TESTS = REPO / "tests" / "house"


def for_type_checkers(text: str) -> dict[str, str]:
    """Name and module of each import under `if TYPE_CHECKING:`."""
    guarded = [node for node in ast.parse(text).body if isinstance(node, ast.If)]
    imports = [node for block in guarded for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


def words_of(sources: Iterable[Source]) -> set[str]:
    """Every name that the code of some files speaks of: imported, plain, or after a dot."""
    found: set[str] = set()
    for source in sources:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.ImportFrom):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.Attribute):
                found.add(node.attr)
    return found


def not_used(names: Iterable[str], sources: Iterable[Source]) -> list[str]:
    used = words_of(sources)
    return [name for name in names if name not in used]


def not_documented(names: Iterable[str], page: str) -> list[str]:
    """Names without a heading of their own on the reference page."""
    headings = set(re.findall(r"^## (\S+)$", page, re.MULTILINE))
    return [name for name in names if name not in headings]


def test_the_list_is_exact_and_sorted() -> None:
    assert harness.__all__ == sorted(set(harness.__all__))
    assert set(harness.__all__) == set(harness._HOMES)


def test_type_checkers_see_the_same_names_from_the_same_rooms() -> None:
    assert for_type_checkers((REPO / "harness" / "__init__.py").read_text("utf-8")) == harness._HOMES


@pytest.mark.parametrize("name", harness.__all__)
def test_a_public_name_resolves_to_what_its_room_holds(name: str) -> None:
    home = importlib.import_module(harness._HOMES[name])
    assert getattr(harness, name) is getattr(home, name)


@pytest.mark.parametrize("name", harness.__all__)
def test_a_public_name_has_a_docstring(name: str) -> None:
    assert reference.docstring(name, reference.home_of(name))


def test_every_public_name_has_an_entry_in_the_reference() -> None:
    assert not_documented(harness.__all__, (REPO / "docs" / "reference.md").read_text("utf-8")) == []


def test_every_public_name_is_used_in_a_test() -> None:
    files = [file for file in (REPO / "tests").rglob("test_*.py") if HOUSE_TESTS not in file.parents]
    assert not_used(harness.__all__, [Source(file.as_posix(), file.read_text("utf-8")) for file in files]) == []


def test_no_public_name_is_shadowed_by_a_room() -> None:
    assert set(harness.__all__) & rooms() == set()


def test_an_unknown_name_is_refused_with_the_place_to_look() -> None:
    with pytest.raises(AttributeError, match=r"'Trajektory'.*__all__"):
        _ = harness.Trajektory


def test_a_star_import_gives_the_list() -> None:
    code = "from harness import *; import harness; print(set(harness.__all__) <= set(globals()))"
    done = subprocess.run([sys.executable, "-c", code], cwd=REPO, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "True\n"


def test_the_names_are_listed_before_they_are_loaded() -> None:
    assert set(harness.__all__) <= set(dir(harness))


def test_a_name_that_no_test_speaks_of_is_found() -> None:
    sources = [Source("tests/test_x.py", "from harness import Verdict\nx = harness.Event\n'Profile'  # Limits\n")]
    assert not_used(["Event", "Limits", "Profile", "Verdict"], sources) == ["Limits", "Profile"]


def test_a_name_without_an_entry_is_found() -> None:
    assert not_documented(["Event", "Verdict"], "# Reference\n\n## Event\n\nVerdict\n") == ["Verdict"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param("class Bare:\n    pass\n", "Bare", id="class"),
        pytest.param("def bare() -> None:\n    pass\n", "bare", id="function"),
        pytest.param("BARE = 1\n", "BARE", id="constant"),
        pytest.param("class Top:\n    '''Doc.'''\nclass Bare(Top):\n    pass\n", "Bare", id="inherited-only"),
        pytest.param(
            "from dataclasses import dataclass\n@dataclass\nclass Bare:\n    x: int\n", "Bare", id="made-by-dataclass"
        ),
    ],
)
def test_a_name_without_a_docstring_of_its_own_is_refused(
    text: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    module = "bare_" + request.node.callspec.id.replace("-", "_")
    tmp_path.joinpath(f"{module}.py").write_text(text, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(reference.UndocumentedName, match=repr(name)):
        reference.docstring(name, importlib.import_module(module))


def test_a_constant_is_documented_by_the_text_below_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.joinpath("told_constant.py").write_text('LIMIT: int = 1\n"""How many."""\n', "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert reference.docstring("LIMIT", importlib.import_module("told_constant")) == "How many."
