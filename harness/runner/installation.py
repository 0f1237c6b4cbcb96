"""What may be wrong with an installation before anything runs: names, versions, folders, the environment."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement

from harness.errors import HarnessError
from harness.runner.settings import Settings, settings
from harness.runner.version import VERSION
from harness.scenarios import collect
from harness.types.diagnosis import Diagnosis, State

DISTRIBUTION: Final = "agent-loop-harness"
FOREIGN: Final = "harness"
"""Another distribution that has our import and command name."""
_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_REPORTS: Final = "reports"


def installation(environ: Mapping[str, str], folder: Path = Path()) -> Iterator[Diagnosis]:
    """Everything about the installation and the project in ``folder``, question by question."""
    yield _package(folder)
    yield from _distributions()
    yield _command(environ)
    yield Diagnosis("python", State.OK, f"{platform.python_version()} at {sys.executable}")
    yield from _versions()
    try:
        configured = settings(folder)
    except HarnessError as error:
        yield Diagnosis("configuration", State.FAULT, str(error))
        return
    yield from _folders(configured, folder)
    yield from _environment(environ)


def _package(folder: Path) -> Diagnosis:
    place = Path(__file__).resolve().parents[1]
    shadow = (folder / "harness").resolve()
    if place == shadow and not (folder / "pyproject.toml").is_file():
        hint = "A folder 'harness' in the current folder hides the installed package; rename it or go elsewhere."
        return Diagnosis("package", State.WARNING, f"imported from {place}", hint)
    return Diagnosis("package", State.OK, f"{DISTRIBUTION} {VERSION} at {place}")


def _distributions() -> Iterator[Diagnosis]:
    try:
        metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        hint = f"Install it from its checkout (pip install path/to/{DISTRIBUTION}): there is no pytest plugin now."
        yield Diagnosis("distribution", State.WARNING, f"{DISTRIBUTION} is not installed, only importable", hint)
    try:
        version = metadata.version(FOREIGN)
    except metadata.PackageNotFoundError:
        return
    hint = f"It writes to the same folder and command: pip uninstall {FOREIGN}, then install {DISTRIBUTION} again."
    yield Diagnosis("distribution", State.FAULT, f"another distribution {FOREIGN!r} {version} is installed too", hint)


def _command(environ: Mapping[str, str]) -> Diagnosis:
    found = shutil.which("harness", path=environ.get("PATH", ""))
    ours = Path(sysconfig.get_path("scripts")) / "harness"
    if found is None:
        hint = f"Put {ours.parent} on PATH, or use python -m harness."
        return Diagnosis("command", State.WARNING, "no command 'harness' is on PATH", hint)
    if Path(found).resolve() != ours.resolve():
        hint = f"It may be another product's. Ours is {ours}; or use python -m harness."
        return Diagnosis("command", State.WARNING, f"the first 'harness' on PATH is {found}", hint)
    return Diagnosis("command", State.OK, found)


def _versions() -> Iterator[Diagnosis]:
    try:
        wanted = [Requirement(text) for text in metadata.requires(DISTRIBUTION) or ()]
    except metadata.PackageNotFoundError:  # said above
        return
    fine = []
    for requirement in (one for one in wanted if one.marker is None):
        name = requirement.name
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            yield Diagnosis(name, State.FAULT, "is not installed", f"pip install '{requirement}'")
            continue
        if requirement.specifier.contains(version, prereleases=True):
            fine.append(f"{name} {version}")
        else:
            seen = f"{version}, which is outside {requirement.specifier}"
            yield Diagnosis(name, State.FAULT, seen, f"pip install '{requirement}'")
    if fine:
        yield Diagnosis("libraries", State.OK, ", ".join(fine))


def _folders(configured: Settings, folder: Path) -> Iterator[Diagnosis]:
    paths = [folder / path for path in configured.scenarios or ("scenarios",)]
    for path in paths:
        yield _scenarios(path, named=bool(configured.scenarios))
    cassettes = folder / configured.cassettes
    if cassettes.exists():
        closed = sorted(str(one) for one in cassettes.rglob("*") if not os.access(one, os.R_OK))
        many = f"{closed[0]} and {len(closed) - 1} more" if len(closed) > 1 else "".join(closed)
        unreadable = Diagnosis("cassettes", State.FAULT, f"{many} cannot be read", "Its mode or owner is wrong.")
        yield unreadable if closed else Diagnosis("cassettes", State.OK, f"{cassettes} can be read")
    yield _reports(folder / _REPORTS)


def _scenarios(path: Path, *, named: bool) -> Diagnosis:
    if not path.exists():
        where = "named in [tool.harness] scenarios" if named else "the default"
        hint = "Write a first scenario with 'harness init', or name the folder in [tool.harness]."
        return Diagnosis("scenarios", State.FAULT if named else State.WARNING, f"{path} ({where}) is not there", hint)
    try:
        n_found = len(collect([path], configured=(str(path),)))
    except (HarnessError, OSError) as error:
        return Diagnosis("scenarios", State.FAULT, str(error))
    return Diagnosis("scenarios", State.OK, f"{n_found} in {path}")


def _reports(path: Path) -> Diagnosis:
    nearest = next(one for one in (path, *path.resolve().parents) if one.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        return Diagnosis("reports", State.FAULT, f"{nearest} cannot be written to", "Use --out for another folder.")
    return Diagnosis("reports", State.OK, f"{path} can be written to")


def _environment(environ: Mapping[str, str]) -> Iterator[Diagnosis]:
    key = "set" if environ.get("OPENAI_API_KEY", "").strip() else "not set"
    yield Diagnosis("OPENAI_API_KEY", State.OK, f"{key}; it is needed to record, to run live and to probe an endpoint")
    proxies = [name for name in _PROXIES if environ.get(name) or environ.get(name.lower())]
    if proxies:
        seen = f"{', '.join(proxies)}: honoured by live runs, never by replays"
        yield Diagnosis("proxies", State.OK, seen)
