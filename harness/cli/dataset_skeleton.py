"""The file that ``harness dataset init`` writes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

from harness.documents import dump_yaml
from harness.tools.skeleton import skeleton
from harness.types.evaluation import ASK_USER, EVALUATION_FORMAT, TO_FILL_IN, ToolSnapshot

_HEAD: Final = """\
# An evaluation of {n_tools} tools: which of them does a model call, and with which arguments?
# Replace every text that begins with {fill_in}, and look at what is expected. Then:
#   harness dataset check {name}
#   harness evaluate {name}
# Every field is described in docs/evaluations.md.
"""
_MODEL: Final = """\
# model: {name: your-model, temperature: 0.7}
"""
_ARMS: Final = """\
arms:
  now: {}
# new: {descriptions: new-descriptions.yaml}
# gate: {metric: case_pass_rate, margin: 0.10}
"""
_ASKING: Final = """\
# A request that lacks something is `expect: ask_user`, once the model has a way to ask: a tool called ask_user among
# its tools, or `ask_user: {field: status, value: need_input}` where it answers in JSON.
"""


def skeleton_text(tools: dict[str, Any], snapshot: ToolSnapshot, out: Path) -> tuple[str, int]:
    """The text of the file, and how many cases it has."""
    can_ask = any(tool.name == ASK_USER for tool in snapshot.tools)
    cases = [case for case in skeleton(snapshot) if can_ask or case["expect"] != ASK_USER]
    paths = {name: _from(out, tools[name]) for name in ("openapi", "schemas") if name in tools}
    head = _HEAD.format(n_tools=len(snapshot.tools), fill_in=TO_FILL_IN, name=out)
    parts = [
        head,
        dump_yaml({"format": EVALUATION_FORMAT, "tools": {**tools, **paths}}),
        _MODEL,
        dump_yaml({"trials": 5}),
        _ARMS,
        "" if can_ask else _ASKING,
        dump_yaml({"cases": cases}),
    ]
    return "".join(parts), len(cases)


def _from(out: Path, path: Any) -> str:
    """A path as the file has to name it."""
    return Path(os.path.relpath(str(path), out.parent)).as_posix()
