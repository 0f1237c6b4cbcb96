"""What git knows of a folder: its commit, a merge base, files as they were, what has changed since.

``git`` itself is called, without a shell, without hooks, pagers, prompts and what the environment says about
repositories (``GIT_*``). Names of files may hold any bytes: they are text as :func:`os.fsdecode` makes it.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from harness.errors import UsageError
from harness.types.review import Revision

SHORT_S: Final = 30
LONG_S: Final = 600
"""How long git may take: for an answer, and for a checkout."""
_SETTINGS: Final = (f"core.hooksPath={os.devnull}", "core.fsmonitor=false", "core.quotePath=false")
_QUIET: Final = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
_STATUS: Final = ("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=no", "--no-renames")
_N_HEX: Final = 12
_NO_BRANCH: Final = re.compile(r"(HEAD|@)(?![\w/.-])|refs/|[0-9a-f]{40,}$")
"""What is meant as it stands: HEAD and what leads on from it, the whole name of a ref, of a commit."""
_NO_GIT: Final = "git is not installed, or not on the path"


class RepositoryError(UsageError):
    """There is no git, no repository, no such commit, or no merge base."""


def git(
    folder: Path, *arguments: str, given: bytes = b"", timeout_s: int = SHORT_S
) -> subprocess.CompletedProcess[bytes]:
    """Call git in a folder, with ``given`` to read; its exit code is not judged.

    Raises RepositoryError without git, and where it hangs.
    """
    command = ["git", "--no-pager", "--literal-pathspecs"]
    command += [word for setting in _SETTINGS for word in ("-c", setting)]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        return subprocess.run(
            [*command, *arguments],
            cwd=folder,
            env={**environ, **_QUIET},
            input=given,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise RepositoryError(f"git {arguments[0]} took more than {timeout_s} s in {folder}") from None
    except OSError as error:
        reason = f"{folder}: {error.strerror}" if folder != Path() and not folder.is_dir() else _NO_GIT
        raise RepositoryError(f"git {arguments[0]} cannot be called: {reason}") from None


def revision_of(folder: Path) -> Revision:
    """The state of the code in a folder, by one call of git; nothing is known outside of a repository.

    The same where there is no git, no commit yet, or git does not answer in time: who runs scenarios need not have it.
    """
    try:
        done = git(folder, *_STATUS)
    except RepositoryError:
        return Revision()
    return _revision(done.stdout) if done.returncode == 0 else Revision()


def _revision(status: bytes) -> Revision:
    lines = os.fsdecode(status).split("\0")
    said = dict(line[2:].split(" ", 1) for line in lines if line.startswith("# "))
    commit, ref = said.get("branch.oid", ""), said.get("branch.head", "")
    dirty = any(line and not line.startswith("# ") for line in lines)
    known = commit not in ("", "(initial)")
    return Revision(commit, "" if ref == "(detached)" else as_text(ref), dirty) if known else Revision()


def as_text(name: str) -> str:
    """A name of a file or branch as text that every report can hold."""
    return os.fsencode(name).decode("utf-8", "replace")


def short(commit: str) -> str:
    """The beginning of a commit's name, as it is shown."""
    return commit[:_N_HEX]


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that differs between a commit and the work tree: its name before and now (None: not there).

    Names are those from the top of the repository. Two names that differ: it was renamed.
    """

    before: str | None
    now: str | None

    @property
    def renamed(self) -> bool:
        """True where it is there under another name."""
        return None not in (self.before, self.now) and self.before != self.now


@dataclass(frozen=True, slots=True)
class Repository:
    """A work tree, and the folder in it that one works in (``inside``: from the top, empty for the top itself)."""

    top: Path
    inside: str = ""

    @classmethod
    def at(cls, folder: Path) -> Repository:
        """The repository that a folder is in. Raises RepositoryError."""
        done = git(folder, "rev-parse", "--show-toplevel")
        if done.returncode:
            raise RepositoryError(f"{folder.resolve()} is in no repository that git can read: {_said(done)}")
        top = Path(os.path.realpath(os.fsdecode(done.stdout.removesuffix(b"\n"))))
        inside = folder.resolve().relative_to(top).as_posix()
        return cls(top, "" if inside == "." else inside)

    @property
    def folder(self) -> Path:
        """The folder that one works in."""
        return self.top / self.inside

    def path_of(self, path: Path) -> str | None:
        """A path (from the folder that one works in, or absolute) from the top; None outside of the repository."""
        found = os.path.relpath(os.path.abspath(self.folder / path), self.top)
        if found.split(os.sep)[0] == os.pardir:
            found = os.path.relpath(os.path.realpath(self.folder / path), os.path.realpath(self.top))
        outside = os.path.isabs(found) or found.split(os.sep)[0] == os.pardir
        return None if outside else PurePosixPath(*Path(found).parts).as_posix()

    def commit_of(self, ref: str) -> str:
        """The commit that a branch, tag or name stands for; a branch may be known as ``origin/<ref>`` only.

        A branch comes before a tag of its name. Raises RepositoryError.
        """
        branches = (f"refs/heads/{ref}", f"refs/remotes/{ref}", f"refs/remotes/origin/{ref}")
        names = (ref,) if _NO_BRANCH.match(ref) else (*branches, ref)
        for name in () if ref.startswith("-") else names:
            done = git(self.top, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
            if done.returncode == 0:
                return os.fsdecode(done.stdout).strip()
        if ref == "HEAD":
            raise RepositoryError(f"{self.top}: there is no commit yet")
        raise RepositoryError(f"{self.top}: git knows no commit {ref!r}: {self._fetch(ref)}")

    def merge_base(self, ref: str, head: str = "HEAD") -> str:
        """The commit that ``head`` has left ``ref`` at. Raises RepositoryError."""
        tip, ours = self.commit_of(ref), self.commit_of(head)
        done = git(self.top, "merge-base", tip, ours, timeout_s=LONG_S)
        if done.returncode == 0:
            return os.fsdecode(done.stdout).split("\n")[0]
        if done.returncode != 1:
            raise RepositoryError(f"{self.top}: git finds no merge base of {ref!r} and {head}: {_said(done)}")
        what = f"{self.top}: {ref!r} and {head} have no commit in common"
        raise RepositoryError(f"{what}: {self._fetch(ref) if self._shallow() else 'name another with --base-ref'}")

    def _fetch(self, ref: str) -> str:
        """What to do for a commit that is not here."""
        if self._shallow():
            return "this clone is shallow: fetch more history (fetch-depth: 0, or git fetch --unshallow)"
        return f"fetch it (git fetch origin {ref}), or name another"

    def _shallow(self) -> bool:
        return git(self.top, "rev-parse", "--is-shallow-repository").stdout.strip() == b"true"

    def bytes_at(self, commit: str, path: str) -> bytes | None:
        """A file as it was at a commit; None where there was no such file. Raises RepositoryError.

        ``path`` counts from the top. Bytes are those that are committed: without filters, as git has them.
        """
        entry = git(self.top, "ls-tree", "-z", commit, "--", path)
        if entry.returncode:
            raise RepositoryError(f"{self.top}: {as_text(path)!r} at {short(commit)}: {_said(entry)}")
        mode, kind, name = (*entry.stdout.partition(b"\t")[0].split(b" "), b"", b"", b"")[:3]
        if kind != b"blob" or mode == b"120000":
            return None
        done = git(self.top, "cat-file", "blob", os.fsdecode(name), timeout_s=LONG_S)
        if done.returncode:
            raise RepositoryError(f"{self.top}: {as_text(path)!r} at {short(commit)}: {_said(done)}")
        return done.stdout

    def files_at(self, commit: str, paths: Collection[str]) -> dict[str, bytes]:
        """Files as they were at a commit, those that there were, by one call. Raises RepositoryError."""
        plain = [path for path in dict.fromkeys(paths) if "\n" not in path]
        odd = ((path, self.bytes_at(commit, path)) for path in {*paths} - {*plain})
        found = {path: data for path, data in odd if data is not None}
        asked = b"".join(os.fsencode(f"{commit}:{path}\n") for path in plain)
        done = git(self.top, "cat-file", "--batch", given=asked, timeout_s=LONG_S)
        if done.returncode:
            raise RepositoryError(f"{self.top}: files at {short(commit)}: {_said(done)}")
        rest = done.stdout
        for path in plain:
            head, _, rest = rest.partition(b"\n")
            words = head.rsplit(b" ", 2)
            if head.endswith(b" missing") or len(words) < 3:
                continue
            n_bytes = int(words[2])
            if words[1] == b"blob":
                found[path] = rest[:n_bytes]
            rest = rest[n_bytes + 1 :]
        return found

    def changed_since(self, commit: str) -> tuple[ChangedFile, ...]:
        """Files that differ between a commit and the work tree, committed or not; untracked ones too, by name.

        Those that are ignored count only where they were tracked. Raises RepositoryError.
        """
        diff = ("diff", "--name-status", "-z", "-M90%", "--no-relative", "--no-ext-diff", "--ignore-submodules=all")
        found = [*_changes(self._names(*diff, commit, "--"))]
        gone = {one.before for one in found if one.before is not None and one.now is None}
        untracked = self._names("ls-files", "--others", "--exclude-standard", "--full-name", "-z")
        moved = self._moved(commit, gone - {*untracked}, [name for name in untracked if name not in gone])
        for name in untracked:
            was = name if name in gone else moved.get(name)
            gone.discard(was)
            found.append(ChangedFile(was, name))
        kept = (one for one in found if one.now is not None or one.before in gone)
        return tuple(sorted(kept, key=lambda one: (one.now or one.before or "", one.before or "")))

    def _moved(self, commit: str, gone: Collection[str], untracked: Sequence[str]) -> dict[str, str]:
        """What untracked files were called before they were moved: each a file that is gone and has the same bytes.

        Two calls of git, however many there are. Names with a line end are taken for new ones.
        """
        suffixes = {PurePosixPath(name).suffix for name in gone}
        names = [name for name in untracked if PurePosixPath(name).suffix in suffixes and self._is_readable(name)]
        were = sorted(name for name in gone if "\n" not in name)
        if not names or not were:
            return {}
        asked = b"".join(os.fsencode(f"{commit}:{name}\n") for name in were)
        blobs = self._lines("cat-file", "--batch-check=%(objectname)", given=asked)
        waiting: dict[tuple[str, bytes], list[str]] = {}
        for name, blob in reversed([*zip(were, blobs, strict=False)]):
            waiting.setdefault((PurePosixPath(name).suffix, blob), []).append(name)
        # as git keeps it, whatever the line ends here
        said = [f"./{name}\n" if name.startswith('"') else f"{name}\n" for name in names]  # a quote would be undone
        now = self._lines("hash-object", "--stdin-paths", given=b"".join(map(os.fsencode, said)))
        found = {}
        for name, blob in zip(names, now, strict=False):  # fewer where one cannot be read any more: the others are new
            like = waiting.get((PurePosixPath(name).suffix, blob))
            if like:
                found[name] = like.pop()
        return found

    def _is_readable(self, name: str) -> bool:
        """True for a file that git can be asked about by a line of input."""
        path = self.top / name
        return "\n" not in name and not os.path.islink(path) and os.path.isfile(path) and os.access(path, os.R_OK)

    def _lines(self, *arguments: str, given: bytes) -> list[bytes]:
        return git(self.top, *arguments, given=given, timeout_s=LONG_S).stdout.split(b"\n")[:-1]

    def _names(self, *arguments: str) -> list[str]:
        done = git(self.top, *arguments, timeout_s=LONG_S)
        if done.returncode:
            raise RepositoryError(f"{self.top}: git {arguments[0]} failed: {_said(done)}")
        return os.fsdecode(done.stdout).split("\0")[:-1]


def _changes(fields: Sequence[str]) -> Iterator[ChangedFile]:
    """Of ``git diff --name-status -z``: a letter, then one name, or two for what was renamed or copied."""
    rest = iter(fields)
    for letter in rest:
        name = next(rest)
        match letter[0]:
            case "R":
                yield ChangedFile(name, next(rest))
            case "C" | "A":
                yield ChangedFile(None, next(rest) if letter[0] == "C" else name)
            case "D":
                yield ChangedFile(name, None)
            case _:
                yield ChangedFile(name, name)


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    """What git said on standard error, in one line; what to do where the folder is somebody else's."""
    text = " ".join(done.stderr.decode("utf-8", "replace").split()).removeprefix("fatal: ")
    return text or f"git ended with {done.returncode}"
