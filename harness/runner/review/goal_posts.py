"""What a change moves beside what is judged: limits, expectations, checks, recordings, baselines, gates, settings.

A goal post that was moved is told, and is no failure: who reads the change decides. Scenarios, evaluations and gates
that are new move nothing (but the gate that was named), and neither does a recording beside those that there were.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Final

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
_FORMS: Final = {
    "harness-gate/": PostKind.GATE,
    "harness-scenario/": PostKind.SCENARIO,
    "harness-evaluation/": PostKind.EVALUATION,
}
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


def moved_since(repository: Repository, ref: str, gate: Path | None = None, baselines: Path | None = None) -> Moved:
    """The merge base of ``ref`` and HEAD, and the goal posts that the work tree has moved since.

    ``gate`` is the file of the gate, where one was named; ``baselines`` the folder of accepted variants that is
    compared with, where it is not the usual one. Raises RepositoryError.
    """
    commit = repository.merge_base(ref)
    changed = repository.changed_since(commit)
    wanted = [one.before for one in changed if one.before is not None and _is_read(one.before)]
    places = _places(repository, baselines)
    look = _Look(repository, repository.files_at(commit, wanted), places, _gate_name(repository, gate))
    posts = in_order({post for one in changed for post in look.posts(one)})
    return Moved(repository, commit, ref, posts, changed)


def in_order(posts: Iterable[GoalPost]) -> tuple[GoalPost, ...]:
    """Goal posts as they are told: by kind, then by file."""
    return tuple(sorted(posts, key=_order))


def _order(post: GoalPost) -> tuple[int, str, str]:
    return [*PostKind].index(post.kind), post.file, post.detail


def _is_read(name: str) -> bool:
    return PurePosixPath(name).suffix in _SUFFIXES or PurePosixPath(name).name == _SETTINGS


def _gate_name(repository: Repository, gate: Path | None) -> str:
    return "" if gate is None else repository.path_of(gate) or ""


def _places(repository: Repository, baselines: Path | None) -> Mapping[str, PostKind]:
    """Folders, from the top, whose files are goal posts whatever is in them."""
    try:
        cassettes = settings(repository.folder).cassettes
    except ConfigurationError:
        cassettes = "cassettes"  # whoever runs something says what is wrong with the settings
    named = {BASELINES: PostKind.BASELINE, Path("cassettes"): PostKind.CASSETTE, Path(cassettes): PostKind.CASSETTE}
    named |= {} if baselines is None else {baselines: PostKind.BASELINE}
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
        file = shown_name(self.repository, one.now or one.before or "")
        kind = self._place(one)
        if kind is not None:
            if kind is not PostKind.CASSETTE or one.before is not None:
                yield GoalPost(kind, file, what_became(one))
            return
        if not any(name is not None and _is_read(name) for name in (one.before, one.now)):
            if self.gate and self.gate in (one.before, one.now):
                yield GoalPost(PostKind.GATE, file, what_became(one))
            return
        yield from (replace(post, file=file) for post in self._in_file(one))

    def _in_file(self, one: ChangedFile) -> Iterator[GoalPost]:
        """What is moved inside a file, whose name is still to be said. What is new moves nothing, and is not read."""
        path = PurePosixPath(one.now or one.before or "")
        is_gate = bool(self.gate) and self.gate in (one.before, one.now)
        if one.before is None and not is_gate and path.name != _SETTINGS:
            return
        old = b"" if one.before is None else self.before.get(one.before, b"")
        before: Any = (
            case_lines(old) if path.suffix == ".jsonl" else _tool_table(old) if path.name == _SETTINGS else None
        )
        if path.suffix == ".jsonl" and not before and not is_gate:
            return
        new = self._now(one)
        if path.name == _SETTINGS:
            yield from _setting(one, before, new)
        elif path.suffix == ".jsonl" and not is_gate:
            yield from _cases(one, before, new)
        else:
            yield from _document(one, document_of(old), new, is_gate=is_gate)

    def _place(self, one: ChangedFile) -> PostKind | None:
        names = [name for name in (one.before, one.now) if name is not None]
        return next((kind for place, kind in self.places.items() for name in names if name.startswith(place)), None)

    def _now(self, one: ChangedFile) -> bytes | None:
        """The bytes of a file as it lies here, none where it is gone; None: they cannot be read."""
        path = None if one.now is None else self.repository.top / one.now
        try:
            return path.read_bytes() if path is not None and path.is_file() else b""
        except OSError:
            return None


def shown_name(repository: Repository, name: str) -> str:
    """A name as one who works in the folder says it."""
    inside = f"{repository.inside}/" if repository.inside else ""
    return as_text(name.removeprefix(inside) if name.startswith(inside) else f"/{name}")


def what_became(one: ChangedFile) -> str:
    """What became of a file as such."""
    if one.before is None:
        return "added"
    if one.now is None:
        return "deleted"
    return f"renamed from {as_text(one.before)}" if one.renamed else "edited"


def _unread(one: ChangedFile) -> str:
    return f"{what_became(one)}, and cannot be read"


def _document(one: ChangedFile, before: Mapping[str, Any], new: bytes | None, *, is_gate: bool) -> Iterator[GoalPost]:
    now = document_of(new or b"")
    form = str(before.get("format", "") or now.get("format", ""))
    kind = PostKind.GATE if is_gate else next((kind for start, kind in _FORMS.items() if form.startswith(start)), None)
    if kind is None or not (before or is_gate):
        return  # it was nothing of ours
    if new is None:
        yield GoalPost(kind, "", _unread(one))
    elif kind is PostKind.GATE:
        details = tuple(changes_of(before, now)) if before and now else ()
        yield from (GoalPost(kind, "", detail) for detail in details or (what_became(one),))
    else:
        yield from (_scenario if kind is PostKind.SCENARIO else _evaluation)(one, before, now)


def _scenario(one: ChangedFile, before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[GoalPost]:
    if not str(now.get("format", "")).startswith("harness-scenario/"):
        yield GoalPost(PostKind.SCENARIO, "", "deleted" if one.now is None else "is no scenario any more")
        return
    if one.renamed and "id" not in now:
        yield GoalPost(PostKind.SCENARIO, "", what_became(one))
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


def _cases(one: ChangedFile, before: list[Any], new: bytes | None) -> Iterator[GoalPost]:
    told = _unread(one) if new is None else case_changes(before, case_lines(new))
    if told:
        yield GoalPost(PostKind.EVALUATION, "", told)


def _setting(one: ChangedFile, before: Any, new: bytes | None) -> Iterator[GoalPost]:
    if new is None:
        yield from () if before is None else (GoalPost(PostKind.SETTING, "", _unread(one)),)
        return
    for detail in changes_of(before, _tool_table(new), "tool.harness"):
        yield GoalPost(PostKind.SETTING, "", detail)


def _tool_table(data: bytes) -> Any:
    """``[tool.harness]`` of a pyproject.toml; None where there is none, or it cannot be read."""
    try:
        tool = tomllib.loads(data.decode("utf-8", "replace")).get("tool")
    except (ValueError, RecursionError):  # tomllib says so, or it holds a number of too many digits, or is too deep
        return None
    return tool.get("harness") if isinstance(tool, dict) else None
