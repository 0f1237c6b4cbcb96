"""``harness init``: a first scenario and a first test, ready to run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

_SCENARIO: Final = """\
format: harness-scenario/1
title: The model looks the weather up, then answers
system: You are a helpful assistant. Use the tools where they help.
task: Do I need an umbrella in London today?
tools: {use: [get_weather]}
script:
  - call: {get_weather: {city: London}}
  - say: Take an umbrella with you.
expect:
  status: completed
  steps: 2
  messages: 5
  calls: [get_weather: {city: London}]
  results: [OK]
  answer: {contains: umbrella}
"""

_TEST: Final = '''\
"""Run it with pytest. The scenario files are test items of their own as well."""

from harness.testing import scenario


def test_the_weather_is_looked_up_once() -> None:
    run = scenario("scenarios/first/umbrella.yaml").run()
    assert run.passed, run.explain()
    assert run.calls == ["get_weather"]

# Your own loop instead of the built-in one:
#
#     from harness.testing import scenario, subject
#     my_loop = subject(lambda env: run_agent(env.task, client=env.openai(), tools=env.wrap(registry)))
#     run = scenario("scenarios/first/umbrella.yaml").run(my_loop)
'''

_FILES: Final = {"scenarios/first/umbrella.yaml": _SCENARIO, "tests/test_first_scenario.py": _TEST}


def init(
    folder: Annotated[Path, typer.Argument(help="Where your project lies.")] = Path(),
) -> None:
    """Write a first scenario and a first test.

    Files that exist stay as they are.
    """
    from harness.cli.output import say
    from harness.errors import ConfigurationError
    from harness.store import replace_file

    if folder.exists() and not folder.is_dir():
        raise ConfigurationError(f"{folder} is a file; name a folder")
    for name, text in _FILES.items():
        path = folder / name
        if path.exists():
            say(f"kept     {path} (it exists)")
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, [text.encode("utf-8")])
        say(f"written  {path}")
    say(f"Next: {f'cd {folder} && ' if folder != Path() else ''}harness run")
