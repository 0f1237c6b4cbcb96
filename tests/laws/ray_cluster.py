"""An evaluation on a Ray cluster comes to the same bytes as here; what `make ray` runs, in an environment of its own.

    python tests/laws/ray_cluster.py        exit 1 where the bytes differ, or a trial is asked twice

A cluster of one node with two processors is started for it and ended with it. The evaluation is run here, with two
worker processes, and on the cluster; then on the cluster once more over a file of which the last lines are missing.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parents[2]
N_CASES, N_TRIALS = 300, 2
TOOL = {"name": "get_order", "description": "Finds an order.", "parameters": {"type": "object", "properties": {"id": {"type": "integer"}}}}


def answer(call: Any) -> Any:
    """The right call but for every seventh order; in the arm `new` also for every fifth."""
    from harness.types.script import ScriptCall, ScriptReply

    number = int(call.messages[-1].content.split()[-1].rstrip("?"))
    wrong = number % 7 == 0 or (bool(call.system) and number % 5 == 0)
    return ScriptReply(calls=(ScriptCall("get_order", json.dumps({"id": -1 if wrong else number})),))


def document() -> str:
    """The evaluation as JSON, which is YAML."""
    cases = [{"ask": f"Where is order {n}?", "expect": {"get_order": {"id": n}}} for n in range(N_CASES)]
    fields = {"format": "harness-evaluation/1", "id": "spread", "tools": {"schemas": [TOOL]}, "model": {"from": "tests.laws.ray_cluster:answer"}}
    return json.dumps({**fields, "trials": N_TRIALS, "arms": {"now": {}, "new": {"system": "Be brief."}}, "cases": cases, "gate": {"margin": 0.1}})


def evaluated(folder: Path, out: str, *more: str, address: str = "") -> bytes:
    """Run the evaluation into ``out`` and give the bytes of its summary."""
    env = {**os.environ, "PYTHONPATH": str(REPO), **({"RAY_ADDRESS": address} if address else {})}
    done = subprocess.run([sys.executable, "-m", "harness", "evaluate", "spread.yaml", "--out", out, *more], cwd=folder, env=env, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode not in (0, 1, 3) or not done.stdout:
        raise SystemExit(f"exit code {done.returncode}: {done.stdout}{done.stderr}")
    print(f"{' '.join(more) or 'here'}: {done.stdout.splitlines()[0]}")
    return (folder / out / "summary.json").read_bytes()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def started(port: int) -> subprocess.Popen[bytes]:
    """A cluster of one node; it ends with its process."""
    ray = Path(sys.executable).with_name("ray")
    command = [str(ray), "start", "--head", "--block", "--num-cpus", "2", f"--port={port}", "--node-ip-address=127.0.0.1", "--include-dashboard=false", "--disable-usage-stats", "--object-store-memory=80000000"]
    cluster = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "PYTHONPATH": str(REPO)})
    for _ in range(600):
        with socket.socket() as asked:
            if asked.connect_ex(("127.0.0.1", port)) == 0:
                return cluster
        time.sleep(0.1)
    raise SystemExit("the cluster did not start within a minute")


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="harness-") as name:
        folder, port = Path(name), free_port()
        (folder / "spread.yaml").write_text(document(), encoding="utf-8")
        here = evaluated(folder, "here")
        cluster = started(port)
        try:
            address = f"127.0.0.1:{port}"
            found = {"two workers": evaluated(folder, "workers", "-j", "2"), "ray": evaluated(folder, "ray", "--backend", "ray", address=address)}
            trials = folder / "ray" / "trials.jsonl"
            lines = trials.read_bytes().splitlines(keepends=True)
            trials.write_bytes(b"".join(lines[:-100]))
            found["ray, gone on with"] = evaluated(folder, "ray", "--backend", "ray", address=address)
            n_lines = len(trials.read_bytes().splitlines())
        finally:
            cluster.send_signal(signal.SIGTERM)
            cluster.wait(timeout=60)
        wrong = [how for how, data in found.items() if data != here]
        if n_lines != 1 + N_CASES * N_TRIALS * 2:
            wrong.append(f"{n_lines - 1} lines of trials")
    print(f"FAIL: {', '.join(wrong)}" if wrong else f"PASS: the same {len(here)} bytes here, with two workers and on a cluster")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
