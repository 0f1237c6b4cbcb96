"""Stubs: what a tool does in a scenario instead of its body; its schema and its checks stay."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from harness.errors import ConfigurationError, ToolError, UnsupportedError
from harness.matching import match_value
from harness.protocols import Tool, ToolContext
from harness.schemas import ArgumentSchema, schema_text
from harness.tools.registry import checked_name
from harness.tools.replies import listed
from harness.types.codes import BODY_CODES, Code, Effect, Isolation, Mode
from harness.types.jsontext import canonical_json
from harness.types.messages import JsonText
from harness.types.scenario import Stub

ANY_OBJECT = JsonText('{"type":"object"}')


class StubTool:
    """A tool whose body is a :class:`harness.types.scenario.Stub`.

    In place of a tool it keeps that tool's name, description, schema, checks, mode, effect; it runs
    inline. ``parameters`` overrides the schema (canonical JSON text). Standing alone it takes any
    object unless it has a schema. Raises ConfigurationError for a stub that says nothing, says two
    things, or gives itself a code that only the harness may give.
    """

    def __init__(
        self, name: str, stub: Stub, *, original: Tool | None = None, parameters: JsonText | None = None
    ) -> None:
        _check_stub(name, stub)
        self._stub = stub
        self._original = original if parameters is None else None
        self._n_calls = 0
        self.name = checked_name(name)
        self.parameters = _parameters(name, original, parameters)
        self._schema = ArgumentSchema(name, self.parameters)
        described = self._schema.value.get("description", "") if original is None else original.description
        self.description: str = described if stub.description is None else stub.description
        self.mode = stub.mode or (Mode.PARALLEL if original is None else original.mode)
        self.effect = stub.effect or (Effect.WRITE if original is None else original.effect)
        self.idempotent = original is not None and original.idempotent
        self.isolation = Isolation.INLINE

    def check(self, arguments: Mapping[str, Any]) -> str | None:
        """The original's check, else the schema's."""
        return self._schema.explain(arguments) if self._original is None else self._original.check(arguments)

    def at_once(self, arguments: Mapping[str, Any]) -> Any:
        """What the stub says, for a plain function. Raises UnsupportedError where it waits, else as ``call``."""
        number, delay_ms = self._counted()
        if delay_ms:
            raise UnsupportedError(
                f"the stub of {self.name!r} waits (delay_ms), but the tool is a plain function: make it async, "
                "or leave the delay out"
            )
        return self._said(arguments, number)

    def _counted(self) -> tuple[int, int]:
        self._n_calls += 1
        delays = self._stub.delays_ms
        return self._n_calls, delays[self._n_calls - 1] if self._n_calls <= len(delays) else self._stub.delay_ms

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> Any:
        """Wait, then give what the stub says. Raises ToolError where it says so or has no more."""
        number, delay_ms = self._counted()
        if delay_ms:
            await context.clock.sleep_ms(delay_ms)
        return self._said(arguments, number)

    def _said(self, arguments: Mapping[str, Any], number: int) -> Any:
        if self._stub.raises is not None:
            raise ToolError(self._stub.raises, code=self._stub.code or Code.TOOL_FAILED.value)
        return json.loads(self._value(arguments, number))

    def _value(self, arguments: Mapping[str, Any], number: int) -> JsonText:
        if self._stub.returns is not None:
            return self._stub.returns
        if self._stub.cases is not None:
            return self._case(self._stub.cases, arguments)
        values = self._stub.sequence or ()
        if number > len(values):
            raise ToolError(f"the stub of {self.name!r} has {len(values)} results and was called {number} times")
        return values[number - 1]

    def _case(self, cases: tuple[tuple[JsonText, JsonText], ...], arguments: Mapping[str, Any]) -> JsonText:
        for wanted, value in cases:
            if not match_value({"$subset": json.loads(wanted)}, dict(arguments)):
                return value
        known = listed([wanted for wanted, _ in cases])
        raise ToolError(f"the stub of {self.name!r} has no case for {canonical_json(arguments)}; allowed: {known}")


def _parameters(name: str, original: Tool | None, parameters: JsonText | None) -> JsonText:
    if parameters is not None:
        return schema_text(name, parameters)
    return ANY_OBJECT if original is None else original.parameters


def _check_stub(name: str, stub: Stub) -> None:
    said = [key for key in ("returns", "sequence", "cases", "raises") if getattr(stub, key) is not None]
    if len(said) != 1:
        raise ConfigurationError(
            f"stub of {name!r}: give exactly one of 'returns', 'sequence', 'cases', 'raises', not {listed(said)}"
        )
    if stub.code is not None and (stub.raises is None or stub.code not in {code.value for code in BODY_CODES}):
        raise ConfigurationError(
            f"stub of {name!r}: code {stub.code!r}; allowed beside 'raises': {listed(sorted(BODY_CODES))}"
        )
    least = min((stub.delay_ms, *stub.delays_ms))
    if least < 0:
        raise ConfigurationError(f"stub of {name!r}: a delay of {least} ms (delay_ms, delays_ms); allowed: 0 and more")
