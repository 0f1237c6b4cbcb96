"""Standard output is ours alone where it is JSON, and may be closed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli.lab import GOOD, Cli, clean_environment, in_a_process

CHATTY = """\
import os
import subprocess
import sys

print("on import")

async def loop(env):
    print("from the loop")
    os.write(1, b"to the descriptor\\n")
    subprocess.run([sys.executable, "-c", "print('from a child')"])
    answer = await env.openai().chat.completions.create(model="m", messages=[{"role": "user", "content": env.task}])
    return answer.choices[0].message.content
"""
SAYS = "format: harness-scenario/1\ntask: x\nscript: [{say: hello}]\nexpect: {status: completed}\n"
PRINTED = ("on import", "from the loop", "to the descriptor", "from a child")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_with_json_whatever_a_loop_prints_goes_to_standard_error(cli: Cli, jobs: str) -> None:
    cli.write("chatty.py", CHATTY)
    for name in ("a", "b"):
        cli.write(f"{name}.yaml", SAYS)
    command = ("run", "a.yaml", "b.yaml", "--json", "--subject", "chatty:loop", "-j", jobs)
    done = in_a_process(*command, cwd=cli.folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b'{"exitCode":0')
    assert done.stdout.count(b"\n") == 1
    for text in PRINTED:
        assert text in done.stderr.decode()


def test_without_json_what_a_loop_prints_stays_where_it_is(cli: Cli) -> None:
    cli.write("chatty.py", CHATTY)
    cli.write("a.yaml", SAYS)
    done = in_a_process("run", "a.yaml", "--subject", "chatty:loop", cwd=cli.folder)
    for text in PRINTED:
        assert text in done.stdout.decode()


@pytest.mark.parametrize("more", [[], ["--json"]], ids=["text", "json"])
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_closed_stream_changes_no_exit_code(cli: Cli, closed: str, more: list[str]) -> None:
    cli.write("a.yaml", GOOD)
    command = f'"{sys.executable}" -m harness run a.yaml {" ".join(more)} {closed}'
    done = subprocess.run(
        command, shell=True, cwd=cli.folder, env=clean_environment({}), capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (cli.folder / "reports/latest/run.json").read_bytes().startswith(b"{")
