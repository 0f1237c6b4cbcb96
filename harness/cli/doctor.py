"""``harness doctor``: what is wrong with an installation, and what an endpoint can do."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from harness.cli.options import AsJson, EnvFile, environment

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from harness.models.live import LiveModel
    from harness.types.diagnosis import Diagnosis

_FAILED: Final = 1
_UNREACHABLE: Final = 5
_FAULTY: Final = 2


def doctor(
    model: Annotated[
        str | None, typer.Option("--model", help="Ask the endpoint of OPENAI_BASE_URL what this model can do.")
    ] = None,
    env_file: EnvFile = None,
    timeout_s: Annotated[int, typer.Option("--timeout", min=1, help="Seconds that one request may take.")] = 60,
    as_json: AsJson = False,
) -> None:
    """Look at the installation; with --model also at an endpoint.

    A look at an endpoint is about a dozen small requests.

    Exit codes: 2 where something is wrong with the installation, 5 where the endpoint does not answer, 1 where it
    answers and calls no tools, else 0.
    """
    from harness.cli.output import hidden, say, say_json
    from harness.runner.installation import installation
    from harness.types.diagnosis import State

    environ = dict(environment(env_file))
    local = [replace(one, seen=hidden(one.seen), hint=hidden(one.hint)) for one in installation(environ)]
    if not as_json:
        say(_table("installation", local))
    asked = [] if model is None else _probe(model, environ, timeout_s, quiet=as_json)
    code = _FAULTY if any(one.state is State.FAULT for one in local) else 0
    code = code or _of_endpoint(asked)
    if as_json:
        say_json({"installation": _plain(local), "endpoint": _plain(asked), "exitCode": code})
    raise typer.Exit(code)


def _of_endpoint(asked: list[Diagnosis]) -> int:
    states = {one.name: one.state.value for one in asked}
    if states.get("answers") == "fault":
        return _UNREACHABLE
    return _FAILED if states.get("tools") == "lacks" else 0


def _probe(model: str, environ: Mapping[str, str], timeout_s: int, *, quiet: bool) -> list[Diagnosis]:
    import asyncio

    from harness.cli.output import hidden, say
    from harness.loop.stop import StopSignal
    from harness.models import chat_model_from_env
    from harness.models.probing import probed

    async def ask() -> list[Diagnosis]:
        asked = chat_model_from_env(environ, name=model, timeout_ms=timeout_s * 1000)
        others = _ways(model, environ, timeout_s)
        if not quiet:
            say(hidden(f"\nendpoint {asked.place}, model {model}"))
        found = []
        try:
            async for one in probed(asked, signal=StopSignal(), hide=hidden, others=others):
                found.append(one)
                if not quiet:
                    say(_line(one))
        finally:
            for way in (asked, *others.values()):
                await way.aclose()
        return found

    return asyncio.run(ask())


def _ways(model: str, environ: Mapping[str, str], timeout_s: int) -> dict[str, LiveModel]:
    """The same model, asked in the other ways that there are."""
    from harness.models.live import live_model
    from harness.models.probing import RESPONSES, RESPONSES_STREAMED, STREAMED
    from harness.types.model_spec import ModelApi, ModelSpec

    ways = {
        STREAMED: ModelSpec(model, stream=True),
        RESPONSES: ModelSpec(model, api=ModelApi.RESPONSES),
        RESPONSES_STREAMED: ModelSpec(model, api=ModelApi.RESPONSES, stream=True),
    }
    return {name: live_model(environ, spec, timeout_ms=timeout_s * 1000) for name, spec in ways.items()}


def _table(title: str, found: Iterable[Diagnosis]) -> str:
    return "\n".join([title, *map(_line, found)])


def _line(one: Diagnosis) -> str:
    text = f"  {one.state.value:<8} {one.name:<16} {one.seen}"
    return f"{text}\n{'':28}{one.hint}" if one.hint else text


def _plain(found: Iterable[Diagnosis]) -> list[dict[str, str]]:
    return [{key: str(value) for key, value in asdict(one).items()} for one in found]
