"""The plain loop with one fault each in its work: tools, results, requests."""

from __future__ import annotations

import traceback
from typing import Any

from harness.mutants.plain.loop import PlainLoop


class RunsEachToolTwice(PlainLoop):
    """Every body runs twice for one call."""

    async def body(self, name: str, arguments: dict[str, Any]) -> str:
        await super().body(name, arguments)
        return await super().body(name, arguments)


class RunsAToolUnasked(PlainLoop):
    """A body runs that the model did not ask for."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        await self.tools["quick"](x=77)
        return await super().calls(calls)


class ChangesArguments(PlainLoop):
    """Tools run with other arguments than the model gave."""

    def arguments(self, call: Any) -> dict[str, Any]:
        return {"x": super().arguments(call)["x"] + 1}


class RunsAnotherTool(PlainLoop):
    """Another tool runs than the model named."""

    def name_of(self, call: Any) -> str:
        return "slow"


class RunsAnotherForAnUnknownTool(PlainLoop):
    """What is unknown is taken for the tool that is nearest."""

    def name_of(self, call: Any) -> str:
        return call.function.name if call.function.name in self.tools else "quick"


class InventsArguments(PlainLoop):
    """Malformed arguments become some of its own."""

    def arguments(self, call: Any) -> dict[str, Any]:
        try:
            return super().arguments(call)
        except ValueError:
            return {"x": 0}


class RunsToolsBeforeItAsks(PlainLoop):
    """A body runs before the first answer."""

    async def run(self) -> Any:
        await self.tools["quick"](x=1)
        return await super().run()


class RunsEarlierCallsAgain(PlainLoop):
    """A call of the answer before runs once more, and nobody is told."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        for earlier in self.left[:1]:
            await self.call(earlier)
        self.left += calls
        return await super().calls(calls)


class RetriesWhatMayNotBeRepeated(PlainLoop):
    """A body that failed runs again, though it is not idempotent."""

    async def body(self, name: str, arguments: dict[str, Any]) -> str:
        try:
            return await super().body(name, arguments)
        except RuntimeError:
            return await super().body(name, arguments)


class RunsCallsOfACutAnswer(PlainLoop):
    """An answer that was cut or filtered is taken as a whole one."""

    def ended_by(self, choice: Any) -> Any:
        return None if choice.message.tool_calls else super().ended_by(choice)

    def steps(self) -> int:
        return 1


class RunsCallsOfAFilteredAnswer(RunsCallsOfACutAnswer):
    """An answer that was filtered is taken as a whole one."""


class CompletesACutAnswer(PlainLoop):
    """A cut answer is told as the final one."""

    def ended_by(self, choice: Any) -> Any:
        return self.said("completed") if choice.finish_reason == "length" else super().ended_by(choice)


class CompletesAnEmptyAnswer(PlainLoop):
    """An answer with nothing in it is told as the final one."""

    def ended_by(self, choice: Any) -> Any:
        return super().ended_by(choice) if choice.message.content else self.said("completed")


class SwallowsAModelError(PlainLoop):
    """A request that failed is an answer without words, and the run is completed."""

    async def run(self) -> Any:
        try:
            return await super().run()
        except Exception:
            return self.said("completed")


class DiesOfATool(PlainLoop):
    """A tool's error ends the run instead of becoming a result."""

    def failed(self, call: Any, error: Exception) -> str:
        raise error


class LosesAResult(PlainLoop):
    """The last result of an answer never reaches the model."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        return (await super().calls(calls))[:-1]


class LosesAFailedResult(PlainLoop):
    """A failed call gets no result."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        return [one for one in await super().calls(calls) if not one["content"].startswith("error")]


class DoublesAResult(PlainLoop):
    """A result is committed twice."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        results = await super().calls(calls)
        return [*results, results[-1]]


class SwapsIds(PlainLoop):
    """Two results stand under each other's ids."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        results = await super().calls(calls)
        ids = [one["tool_call_id"] for one in reversed(results)]
        return [{**one, "tool_call_id": id_} for one, id_ in zip(results, ids, strict=True)]


class ShowsEachOthersResults(PlainLoop):
    """Results stand under their own ids, in their order, with each other's texts."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        results = await super().calls(calls)
        return [{**one, "content": other["content"]} for one, other in zip(results, reversed(results), strict=True)]


class ShowsTheLastResultForAll(PlainLoop):
    """Every result of an answer shows the text of the last."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        results = await super().calls(calls)
        return [{**one, "content": results[-1]["content"]} for one in results]


class AnswersUnderAStrangeId(PlainLoop):
    """A result stands under an id that no call has."""

    def result(self, call: Any, content: str) -> Any:
        return {**super().result(call, content), "tool_call_id": "call_0"}


class ReversesResults(PlainLoop):
    """Results come in another order than their calls."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        return list(reversed(await super().calls(calls)))


class AltersEarlierResults(PlainLoop):
    """What the model saw of a result is another text in the next request."""

    def request(self) -> dict[str, Any]:
        if self.n_asked > 2:
            self.messages = [
                {**one, "content": "…"} if one["role"] == "tool" and one is not self.messages[-1] else one
                for one in self.messages
            ]
        return super().request()


class DropsToolsLater(PlainLoop):
    """The second request offers no tools."""

    def request(self) -> dict[str, Any]:
        shown = super().request()
        return shown if self.n_asked == 1 else {"messages": shown["messages"]}


class OffersFewerToolsLater(PlainLoop):
    """From the second request on a tool is missing."""

    def request(self) -> dict[str, Any]:
        shown = super().request()
        return shown if self.n_asked == 1 else {**shown, "tools": shown["tools"][1:]}


class TrimsInsideAPair(PlainLoop):
    """A window on the history begins with results whose calls are outside."""

    def request(self) -> dict[str, Any]:
        shown = super().request()
        return shown if self.n_asked == 1 else {**shown, "messages": shown["messages"][2:]}


class DropsTheAnswer(PlainLoop):
    """The answer that made the calls is not in the history."""

    def request(self) -> dict[str, Any]:
        self.messages = [one for one in self.messages if one["role"] != "assistant"]
        return super().request()


class EchoesOtherArguments(PlainLoop):
    """The history shows other arguments than the model gave."""

    def echo(self, message: Any) -> Any:
        shown = super().echo(message)
        for call in shown["tool_calls"]:
            call["function"]["arguments"] = '{"x":0}'
        return shown


class EchoesFewerCalls(PlainLoop):
    """The history shows one call less than the model made."""

    def echo(self, message: Any) -> Any:
        shown = super().echo(message)
        return {**shown, "tool_calls": shown["tool_calls"][:1]}


class ShowsItsTraceback(PlainLoop):
    """A failed tool's traceback is shown to the model, paths of the host and all."""

    def failed(self, call: Any, error: Exception) -> str:
        return "".join(traceback.format_exception(error))


class RemindsBeforeResults(PlainLoop):
    """A reminder stands between calls and their results."""

    async def calls(self, calls: list[Any]) -> list[Any]:
        return [{"role": "user", "content": "be brief"}, *await super().calls(calls)]
