"""Where the recording of a run lies: one file a run, named by its scenario and arm."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from harness.types.names import portable_path

SUFFIX: Final = ".yaml"


def cassette_path(root: Path, scenario_id: str, arm_or_model: str, trial: int = 1) -> Path:
    """``<root>/<scenario>/<arm or model>[.<trial>].yaml``; the first trial has no number.

    Same ids, same path; two never share one; none lies outside ``root`` (case PB-049). The
    scenario's id also stands inside the file, where replay checks it.
    """
    folders = [_not_a_file(part) for part in portable_path(scenario_id).split("/")]
    arm = "%2F".join(portable_path(arm_or_model).split("/"))
    name = re.sub(r"\.(\d+)$", r"%2E\1", arm)
    number = "" if trial == 1 else f".{trial}"
    return root.joinpath(*folders) / f"{name}{number}{SUFFIX}"


def _not_a_file(folder: str) -> str:
    # A folder "b.yaml" of scenario "a/b.yaml" would take the place of arm "b" of scenario "a".
    return folder.removesuffix(SUFFIX) + "%2Eyaml" if folder.endswith(SUFFIX) else folder
