"""Goal posts that are code: the modules of own checks and of verifiers, and files of scenarios in Python.

What such a module imports is not looked at: that it was edited is told, never what that does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from harness import plugins
from harness.errors import ConfigurationError
from harness.runner.bases.repository import LONG_S, ChangedFile, git
from harness.runner.review.document_changes import document_of
from harness.runner.review.goal_posts import Moved, in_order, shown_name, what_became
from harness.runner.settings import settings
from harness.scenarios import SUFFIXES
from harness.types.review import GoalPost, PostKind

_PYTHON: Final = ".py"
_IN_PYTHON: Final = re.compile(rb"""\bverifier["']?\s*[:=]\s*["']([\w.]+:[\w.]+)["']""", re.ASCII)
"""A verifier as code names it, which is not run to find out."""


def with_code_posts(moved: Moved | None, checks: Collection[str], scenarios: Sequence[Path] = ()) -> Moved | None:
    """What moved, with a goal post for each edited file of code that judges: see this module.

    ``checks`` are the own checks that runs were asked for, as somebody asked: ``package.module:name``, or an entry
    point. ``scenarios`` are where scenarios were asked for, beside the paths of the settings.
    """
    edited = [] if moved is None else [one for one in moved.changed if _is_code(one)]
    if moved is None or not edited:
        return moved
    posts = {*moved.posts, *_checks(moved, edited, checks), *_verifiers(moved, edited)}
    posts |= {*_scenarios(moved, edited, scenarios)}
    return replace(moved, posts=in_order(posts))


def _is_code(one: ChangedFile) -> bool:
    return one.before is not None and any(name is not None and name.endswith(_PYTHON) for name in (one.before, one.now))


def _checks(moved: Moved, edited: Sequence[ChangedFile], names: Collection[str]) -> Iterator[GoalPost]:
    entries = plugins.entry_point_modules(plugins.CHECKS) if any(":" not in name for name in names) else {}
    for name in sorted(names):
        module = name.partition(":")[0] if ":" in name else entries.get(name, "")
        for one in _of_module(edited, module):
            yield _post(moved, one, PostKind.CHECK, f"{name}: ")


def _verifiers(moved: Moved, edited: Sequence[ChangedFile]) -> Iterator[GoalPost]:
    """Of the scenarios that there were: a verifier decides what a run comes to, as an expectation does."""
    for name in sorted(_verifiers_at(moved)):
        for one in _of_module(edited, name.partition(":")[0]):
            yield _post(moved, one, PostKind.EXPECTATION, f"outcome.verifier {name}: ")


def _verifiers_at(moved: Moved) -> set[str]:
    """The verifiers that scenarios of the merge base name. Raises RepositoryError."""
    top, commit = moved.repository.top, moved.merge_base
    said = git(top, "grep", "-l", "-z", "-I", "-F", "-e", "verifier", commit, timeout_s=LONG_S)  # 1: there is none
    names = [name.partition(":")[2] for name in os.fsdecode(said.stdout).split("\0")[:-1]]
    texts = moved.repository.files_at(commit, [name for name in names if name.endswith((*SUFFIXES, _PYTHON))])
    return {verifier for name, text in texts.items() for verifier in _verifiers_in(name, text)}


def _verifiers_in(name: str, text: bytes) -> Iterator[str]:
    if name.endswith(_PYTHON):
        yield from (found.decode("ascii") for found in _IN_PYTHON.findall(text))
        return
    outcome: Any = document_of(text).get("outcome")
    verifier = outcome.get("verifier") if isinstance(outcome, dict) else None
    if isinstance(verifier, str):
        yield verifier


def _scenarios(moved: Moved, edited: Sequence[ChangedFile], asked: Sequence[Path]) -> Iterator[GoalPost]:
    try:
        named = (*asked, *map(Path, settings(moved.repository.folder).scenarios))
    except ConfigurationError:
        named = tuple(asked)  # whoever runs something says what is wrong with the settings
    files = {moved.repository.path_of(path) for path in named if path.suffix == _PYTHON}
    for one in edited:
        if {one.before, one.now} & files:
            yield _post(moved, one, PostKind.SCENARIO, "in Python: ")


def _of_module(edited: Sequence[ChangedFile], module: str) -> Iterator[ChangedFile]:
    """The files of a module in any folder: it may be imported from wherever."""
    path = module.replace(".", "/")
    ends = (f"/{path}.py", f"/{path}/__init__.py")
    for one in edited if path else ():
        if any(f"/{name}".endswith(ends) for name in (one.before, one.now) if name is not None):
            yield one


def _post(moved: Moved, one: ChangedFile, kind: PostKind, what: str) -> GoalPost:
    return GoalPost(kind, shown_name(moved.repository, one.now or one.before or ""), f"{what}{what_became(one)}")
