"""Tools that look at a scenario's own files and canned requests; confined to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from harness.errors import ConfigurationError, ToolError
from harness.protocols import Tool
from harness.tools.content import Output, nothing
from harness.tools.fixtures import Factory, Fixtures, confined
from harness.tools.registry import FunctionTool
from harness.tools.replies import listed
from harness.types.codes import Effect

MOST_MATCHES: Final = 20
_MB: Final = 1_000_000


def _reading(function: Callable[..., Any]) -> FunctionTool:
    return FunctionTool(function, effect=Effect.READ, idempotent=True)


def _read_file(fixtures: Fixtures) -> Tool:
    fixtures.options("read_file")
    root = fixtures.folder()

    def read_file(path: Annotated[str, "Path of the file, relative to the workspace, such as src/login.ts."]) -> str:
        """Read a text file of the workspace."""
        return _text_of(root, path)

    return _reading(read_file)


def _text_of(root: Path, path: str) -> str:
    target = confined(root, path)
    try:
        return target.read_bytes().decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise ToolError(f"there is no file {path!r}; allowed: {listed(_names(root))}") from None
    except IsADirectoryError:
        raise ToolError(f"{path!r} is a folder; allowed: {listed(_names(root))}") from None
    except UnicodeDecodeError:
        raise ToolError(f"the file {path!r} is not UTF-8 text; allowed: text files") from None


def _names(root: Path) -> list[str]:
    files = (path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(path.relative_to(root).as_posix() for path in files)


def _list_files(fixtures: Fixtures) -> Tool:
    declared = fixtures.options("list_files", "sizes").get("sizes", {})
    if not isinstance(declared, dict) or not all(type(size) is int for size in declared.values()):
        raise ConfigurationError("options of tool 'list_files': 'sizes' must be an object of bytes by path")
    root = fixtures.folder()

    def list_files(
        larger_than_mb: Annotated[float, "Only files larger than this many megabytes (1 MB is 1,000,000 bytes)."] = 0,
        folder: Annotated[str, "Only files below this folder, such as src; empty means all."] = "",
        order: Annotated[Literal["name", "size"], "By name, or largest first."] = "name",
    ) -> Any:
        """List files of the workspace with their sizes in bytes."""
        below = confined(root, folder).relative_to(root).as_posix() if folder else "."
        sizes = {**{name: (root / name).stat().st_size for name in _names(root)}, **declared}
        return _listing(sizes, larger_than_mb * _MB if larger_than_mb else -1, below, order)

    return _reading(list_files)


def _listing(sizes: Mapping[str, int], more_than_bytes: float, below: str, order: str) -> Any:
    chosen = [
        (name, size)
        for name, size in sorted(sizes.items())
        if size > more_than_bytes and (below == "." or name.startswith(f"{below}/"))
    ]
    if order == "size":
        chosen.sort(key=lambda item: -item[1])
    if not chosen:
        return nothing(f"no file fits; the workspace holds {len(sizes)} files")
    return [{"path": name, "bytes": size} for name, size in chosen]


def _search_docs(fixtures: Fixtures) -> Tool:
    chosen = _chosen(fixtures, "search_docs", lambda name: not _is_log(name))

    def search_docs(query: Annotated[str, "Words that must all occur in one line; case does not matter."]) -> Any:
        """Search the project's documents and sources for lines with these words."""
        return _search(chosen, query)

    return _reading(search_docs)


def _search_logs(fixtures: Fixtures) -> Tool:
    chosen = _chosen(fixtures, "search_logs", _is_log)

    def search_logs(query: Annotated[str, "Words that must all occur in one line; case does not matter."]) -> Any:
        """Search the logs for lines with these words, such as an error code or a request id."""
        return _search(chosen, query)

    return _reading(search_logs)


def _is_log(name: str) -> bool:
    return name.endswith(".log") or name.startswith("logs/")


def _chosen(fixtures: Fixtures, tool: str, default: Callable[[str], bool]) -> Mapping[str, str]:
    files = fixtures.files()
    names = fixtures.options(tool, "files").get("files", [name for name in sorted(files) if default(name)])
    unknown = sorted(set(names) - set(files))
    if unknown:
        raise ConfigurationError(
            f"options of tool {tool!r}: no fixture file {listed(unknown)}; there are {listed(sorted(files))}"
        )
    return {name: files[name] for name in sorted(names)}


def _search(files: Mapping[str, str], query: str) -> Output | dict[str, Any]:
    words = query.casefold().split()
    if not words:
        raise ToolError("the query is empty; allowed: one or more words")
    found = [
        {"file": name, "line": number, "text": line.rstrip("\r")}
        for name, text in files.items()
        for number, line in enumerate(text.split("\n"), 1)
        if all(word in line.casefold() for word in words)
    ]
    if not found:
        return nothing(f"nothing found for {query!r} in {len(files)} files")
    return {"matches": found[:MOST_MATCHES], "left_out": max(0, len(found) - MOST_MATCHES)}


def _inspect_network(fixtures: Fixtures) -> Tool:
    requests = fixtures.options("inspect_network", "requests").get("requests", [])
    if not isinstance(requests, list) or not all(isinstance(request, dict) for request in requests):
        raise ConfigurationError("options of tool 'inspect_network': 'requests' must be a list of objects")

    def inspect_network(
        url: Annotated[str, "Only requests whose URL contains this text; empty means all."] = "",
        status: Annotated[int | None, "Only requests answered with this HTTP status, such as 401."] = None,
    ) -> Any:
        """Look at the page's recent network requests: method, URL, status and body."""
        found = _fitting(requests, url, status)
        return found or nothing(f"none of {len(requests)} requests fits")

    return _reading(inspect_network)


def _fitting(requests: Iterable[Mapping[str, Any]], url: str, status: int | None) -> Sequence[Mapping[str, Any]]:
    return [
        request
        for request in requests
        if url in str(request.get("url", "")) and (status is None or request.get("status") == status)
    ]


SEARCHING: Final[Mapping[str, Factory]] = {
    "inspect_network": _inspect_network,
    "list_files": _list_files,
    "read_file": _read_file,
    "search_docs": _search_docs,
    "search_logs": _search_logs,
}
