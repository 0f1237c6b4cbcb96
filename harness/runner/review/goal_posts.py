"""What a change moves beside what is judged: limits, expectations, checks, recordings, baselines, gates, settings.

A goal post that was moved is told, and is no failure: who reads the change decides. Scenarios and evaluations that are
new move nothing, and neither does a recording beside those that there were.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Final

from harness import plugins
from harness.errors import ConfigurationError
from harness.runner.baselines import BASELINES
from harness.runner.bases.repository import ChangedFile, Repository, as_text
from harness.runner.review.document_changes import case_changes, case_lines, changes_at, changes_of, document_of
from harness.runner.settings import settings
from harness.types.review import GoalPost, PostKind

_SCENARIO: Final = {
    "limits": PostKind.LIMIT,
    "agents.*.limits": PostKind.LIMIT,
    "tool_policy": PostKind.LIMIT,
    "policy": PostKind.LIMIT,
    "retry": PostKind.LIMIT,
    "tools.allowed": PostKind.LIMIT,
    "expect": PostKind.EXPECTATION,
    "expect_after": PostKind.EXPECTATION,
    "outcome": PostKind.EXPECTATION,
    "allow_leftovers": PostKind.EXPECTATION,
    "models.*.allow_leftovers": PostKind.EXPECTATION,
    "checks": PostKind.CHECK,
    "skip": PostKind.SCENARIO,
    "id": PostKind.SCENARIO,
}
"""Fields, each by its path; ``*`` stands for every name that is there on both sides."""
_EVALUATION: Final = (
    "gate", "grading", "trials", "seed", "limits", "execute", "ask_user",
    "running.max_tokens", "running.max_cost_usd", "running.retries",
)  # fmt: skip
_SUFFIXES: Final = (".yaml", ".yml", ".jsonl")
_SETTINGS: Final = "pyproject.toml"


@dataclass(frozen=True, slots=True)
class Moved:
    """What a change is measured from: the merge base, how it was named, and the goal posts moved since."""

    repository: Repository
    merge_base: str
    ref: str
    posts: tuple[GoalPost, ...] = ()
    changed: tuple[ChangedFile, ...] = ()


def moved_since(repository: Repository, ref: str, gate: Path | None = None) -> Moved:
    """The merge base of ``ref`` and HEAD, and the goal posts that the work tree has moved since.

    ``gate`` is the file of the gate, where one was named. Raises RepositoryError.
    """
    commit = repository.merge_base(ref)
    changed = repository.changed_since(commit)
    wanted = [one.before for one in changed if one.before is not None and _is_read(one.before)]
    look = _Look(repository, repository.files_at(commit, wanted), _places(repository), _gate_name(repository, gate))
    posts = sorted({post for one in changed for post in look.posts(one)}, key=_order)
    return Moved(repository, commit, ref, tuple(posts), changed)


def with_check_posts(moved: Moved | None, names: Collection[str]) -> Moved | None:
    """What moved, with a goal post for each edited file that is the module of one of these own checks of the project.

    ``names`` are as somebody asked for them: ``package.module:name``, or an entry point.
    """
    if moved is None or not names:
        return moved
    posts = {*moved.posts, *_check_posts(moved, names)}
    return replace(moved, posts=tuple(sorted(posts, key=_order)))


def _check_posts(moved: Moved, names: Collection[str]) -> Iterator[GoalPost]:
    entries = plugins.entry_point_modules(plugins.CHECKS) if any(":" not in name for name in names) else {}
    for name in sorted(names):
        path = (name.partition(":")[0] if ":" in name else entries.get(name, "")).replace(".", "/")
        for one in moved.changed if path else ():
            if one.before is not None and _is_module(one, path):
                shown = _shown(moved.repository, one.now or one.before)
                yield GoalPost(PostKind.CHECK, shown, f"{name}: {_what(one)}")


def _is_module(one: ChangedFile, path: str) -> bool:
    """True for the file of a module in any folder: it may be imported from wherever."""
    files = (f"/{path}.py", f"/{path}/__init__.py")
    return any(f"/{name}".endswith(files) for name in (one.before, one.now) if name is not None)


def _order(post: GoalPost) -> tuple[int, str, str]:
    return [*PostKind].index(post.kind), post.file, post.detail


def _is_read(name: str) -> bool:
    return PurePosixPath(name).suffix in _SUFFIXES or PurePosixPath(name).name == _SETTINGS


def _gate_name(repository: Repository, gate: Path | None) -> str:
    return "" if gate is None else repository.path_of(gate) or ""


def _places(repository: Repository) -> Mapping[str, PostKind]:
    """Folders, from the top, whose files are goal posts whatever is in them."""
    try:
        cassettes = settings(repository.folder).cassettes
    except ConfigurationError:
        cassettes = "cassettes"  # whoever runs something says what is wrong with the settings
    named = {BASELINES: PostKind.BASELINE, Path("cassettes"): PostKind.CASSETTE, Path(cassettes): PostKind.CASSETTE}
    found = {repository.path_of(path): kind for path, kind in named.items()}
    return {f"{name}/": kind for name, kind in found.items() if name not in (None, ".")}


@dataclass(frozen=True, slots=True)
class _Look:
    """Changed files looked at: their bytes before, and where things lie."""

    repository: Repository
    before: Mapping[str, bytes]
    places: Mapping[str, PostKind]
    gate: str

    def posts(self, one: ChangedFile) -> Iterator[GoalPost]:
        """The goal posts that one changed file moves."""
        file = _shown(self.repository, one.now or one.before or "")
        kind = self._place(one)
        if kind is not None:
            if kind is not PostKind.CASSETTE or one.before is not None:
                yield GoalPost(kind, file, _what(one))
            return
        if not any(name is not None and _is_read(name) for name in (one.before, one.now)):
            if self.gate and self.gate in (one.before, one.now):
                yield GoalPost(PostKind.GATE, file, _what(one))
            return
        old, new = self._bytes(one)
        if PurePosixPath(one.now or one.before or "").suffix == ".jsonl":
            yield from _cases(file, old, new)
        elif PurePosixPath(one.now or one.before or "").name == _SETTINGS:
            yield from _setting(file, _tool_table(old), _tool_table(new))
        else:
            yield from (replace(post, file=file) for post in self._document(one, old, new))

    def _document(self, one: ChangedFile, old: bytes, new: bytes) -> Iterator[GoalPost]:
        before, now = document_of(old), document_of(new)
        form = str(before.get("format", "") or now.get("format", ""))
        if (self.gate and self.gate in (one.before, one.now)) or form.startswith("harness-gate/"):
            details = tuple(changes_of(before, now)) if before and now else ()
            yield from (GoalPost(PostKind.GATE, "", detail) for detail in details or (_what(one),))
        elif not before:
            return  # it is new, or was nothing of ours
        elif form.startswith("harness-scenario/"):
            yield from _scenario(one, before, now)
        elif form.startswith("harness-evaluation/"):
            yield from _evaluation(one, before, now)

    def _place(self, one: ChangedFile) -> PostKind | None:
        names = [name for name in (one.before, one.now) if name is not None]
        return next((kind for place, kind in self.places.items() for name in names if name.startswith(place)), None)

    def _bytes(self, one: ChangedFile) -> tuple[bytes, bytes]:
        old = b"" if one.before is None else self.before.get(one.before, b"")
        path = None if one.now is None else self.repository.top / one.now
        return old, path.read_bytes() if path is not None and path.is_file() else b""


def _shown(repository: Repository, name: str) -> str:
    """A name as one who works in the folder says it."""
    inside = f"{repository.inside}/" if repository.inside else ""
    return as_text(name.removeprefix(inside) if name.startswith(inside) else f"/{name}")


def _what(one: ChangedFile) -> str:
    if one.before is None:
        return "added"
    if one.now is None:
        return "deleted"
    return f"renamed from {as_text(one.before)}" if one.renamed else "edited"


def _scenario(one: ChangedFile, before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[GoalPost]:
    if not str(now.get("format", "")).startswith("harness-scenario/"):
        yield GoalPost(PostKind.SCENARIO, "", "deleted" if one.now is None else "is no scenario any more")
        return
    if one.renamed and "id" not in now:
        yield GoalPost(PostKind.SCENARIO, "", _what(one))
    for name, kind in _SCENARIO.items():
        for detail in changes_at(before, now, name):
            yield GoalPost(kind, "", detail)


def _evaluation(one: ChangedFile, before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[GoalPost]:
    if not str(now.get("format", "")).startswith("harness-evaluation/"):
        yield GoalPost(PostKind.EVALUATION, "", "deleted" if one.now is None else "is no evaluation any more")
        return
    for name in _EVALUATION:
        for detail in changes_at(before, now, name):
            yield GoalPost(PostKind.EVALUATION, "", detail)
    told = case_changes(before.get("cases"), now.get("cases"))
    if told:
        yield GoalPost(PostKind.EVALUATION, "", told)


def _cases(file: str, old: bytes, new: bytes) -> Iterator[GoalPost]:
    before, now = case_lines(old), case_lines(new)
    told = case_changes(before, now) if before else ""
    if told:
        yield GoalPost(PostKind.EVALUATION, file, told)


def _setting(file: str, before: Any, now: Any) -> Iterator[GoalPost]:
    for detail in changes_of(before, now, "tool.harness"):
        yield GoalPost(PostKind.SETTING, file, detail)


def _tool_table(data: bytes) -> Any:
    """``[tool.harness]`` of a pyproject.toml; None where there is none, or it cannot be read."""
    try:
        tool = tomllib.loads(data.decode("utf-8", "replace")).get("tool")
    except tomllib.TOMLDecodeError:
        return None
    return tool.get("harness") if isinstance(tool, dict) else None
