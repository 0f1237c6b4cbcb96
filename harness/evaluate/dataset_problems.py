"""What in an evaluation does not fit its tools: names that no tool has, arguments that no right call could have.

A case that expects what cannot be called fails in every arm and tells nothing, so it is told before anything is
asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from harness.evaluate.arms_tools import property_at
from harness.evaluate.dataset_arguments import ToolSchemas
from harness.plugins import suggestion
from harness.types.evaluation import ASK_USER, NO_CALL, TO_FILL_IN, Arm, Case, Evaluation, ToolSnapshot, Wanted
from harness.types.messages import ChatAssistant, ChatMessage

MOST_PROBLEMS = 50


@dataclass(frozen=True, slots=True)
class Problem:
    """What does not fit: where (``arms.new.rename``, or the field of a case), and what to do about it.

    ``is_fatal``: it cannot be asked or judged as it stands. Else a case only cannot be passed, as happens in public
    benchmarks.
    """

    message: str
    field: str
    case: str | None = None
    line: int | None = None
    is_fatal: bool = True
    file: str | None = None

    @property
    def place(self) -> str:
        """The case, with its line, and with its file where that is one of lines; "": it is about no case."""
        if self.case is None:
            return ""
        if self.file is not None:
            return f"case {self.case!r} ({self.file}:{self.line})"
        return f"case {self.case!r}" + (f" (line {self.line})" if self.line else "")

    def __str__(self) -> str:
        return f"{self.place}{', ' if self.place else ''}{self.field}: {self.message}"


def check_against(
    evaluation: Evaluation,
    snapshot: ToolSnapshot,
    distractors: ToolSnapshot | None = None,
    *,
    most: int = MOST_PROBLEMS,
) -> tuple[Problem, ...]:
    """The problems of an evaluation with these tools, at most ``most``; none: it can be run."""
    return tuple(islice(problems_of(evaluation, snapshot, distractors), most))


def problems_of(
    evaluation: Evaluation, snapshot: ToolSnapshot, distractors: ToolSnapshot | None = None
) -> Iterator[Problem]:
    """All problems, found while they are asked for."""
    return _Checking(evaluation, snapshot, distractors).problems()


class _Checking:
    def __init__(self, evaluation: Evaluation, snapshot: ToolSnapshot, distractors: ToolSnapshot | None) -> None:
        self._evaluation = evaluation
        self._names = tuple(tool.name for tool in snapshot.tools)
        self._snapshot = snapshot
        self._pool = {tool.name for tool in distractors.tools} if distractors else set[str]()
        self._schemas = ToolSchemas(snapshot)

    def problems(self) -> Iterator[Problem]:
        if not self._names:
            yield Problem("no source has any tool", "tools")
            return
        for name, why in self._schemas.broken.items():
            yield Problem(f"the parameters of {name!r} are no JSON Schema: {why}", "tools")
        yield from self._unknown((name for name, _ in self._evaluation.stubs), "stubs")
        yield from self._called_before(self._evaluation.padding, "padding")
        for arm in self._evaluation.arms:
            yield from self._of_arm(arm)
        told: set[str] = set()
        for case in self._evaluation.cases:
            yield from self._of_case(case, told)

    def _unknown(self, names: Iterator[str] | Sequence[str], field: str, case: Case | None = None) -> Iterator[Problem]:
        for name in names:
            if name not in self._names:
                yield self._problem(f"no tool {name!r}{suggestion(name, self._names)}", field, case)

    def _problem(self, message: str, field: str, case: Case | None) -> Problem:
        if case is None:
            return Problem(message, field)
        return Problem(message, field, case.id, case.line, file=case.file)

    def _called_before(
        self, messages: Sequence[ChatMessage], field: str, case: Case | None = None
    ) -> Iterator[Problem]:
        """Tools of a conversation that nobody offers: it can be asked, and the model is shown what never was."""
        called = {call.name: None for one in messages if isinstance(one, ChatAssistant) for call in one.tool_calls}
        for problem in self._unknown([name for name in called if name not in self._pool], field, case):
            yield replace(problem, message=f"calls a tool that no source has: {problem.message}", is_fatal=False)

    # ------------------------------------------------------------ arms

    def _of_arm(self, arm: Arm) -> Iterator[Problem]:
        place = f"arms.{arm.name}"
        yield from self._unknown([name for name, _ in arm.descriptions], f"{place}.descriptions")
        for name, _ in arm.parameter_descriptions:
            yield from self._parameter(name, f"{place}.descriptions")
        yield from self._renaming(arm, f"{place}.rename")
        forced = _forced(arm)
        yield from self._unknown([forced] if forced else [], f"{place}.tool_choice")
        n_there = len(self._pool - set(self._names))
        if arm.distractors > n_there:
            what = f"wants {arm.distractors}, and 'distractor_tools' has {n_there} that are no tools of the evaluation"
            yield Problem(f"{what}; ask for fewer, or give more", f"{place}.distractors")

    def _parameter(self, name: str, field: str) -> Iterator[Problem]:
        tool, *path = name.split(".")
        found = next((one for one in self._snapshot.tools if one.name == tool), None)
        if found is None:
            yield from self._unknown([tool], field)
        elif property_at(json.loads(found.parameters), path) is None:
            known = self._schemas.parameters(tool)
            yield Problem(f"tool {tool!r} has no parameter {'.'.join(path)!r}{suggestion(path[0], known)}", field)

    def _renaming(self, arm: Arm, field: str) -> Iterator[Problem]:
        names = dict(arm.rename)
        yield from self._unknown(list(names), field)
        told = [names.get(name, name) for name in self._names]
        for name in sorted({name for name in told if told.count(name) > 1}):
            yield Problem(f"gives a tool the name {name!r}, which another has; choose another name", field)

    # ------------------------------------------------------------ cases

    def _of_case(self, case: Case, told: set[str]) -> Iterator[Problem]:
        if case.ask.startswith(TO_FILL_IN):
            yield self._problem(f"begins with {TO_FILL_IN!r}; write what a user would say", "ask", case)
        yield from self._unknown(case.never, "never", case)
        yield from self._unknown(case.tools or (), "tools", case)
        yield from self._called_before(case.history, "history", case)
        for one in case.accept:
            if one.wanted is Wanted.ASK_USER:
                yield from self._asking(case, told)
            for call in one.calls:
                if call.name not in self._names:
                    known = (*self._names, NO_CALL, ASK_USER)
                    yield self._problem(f"no tool {call.name!r}{suggestion(call.name, known)}", "expect", case)
                elif call.arguments is not None and case.bfcl is None:
                    for message in self._schemas.faults(call.name, json.loads(call.arguments)):
                        yield replace(self._problem(message, f"expect.{call.name}", case), is_fatal=False)
        yield from self._forcing(case, told)

    def _asking(self, case: Case, told: set[str]) -> Iterator[Problem]:
        tool = self._evaluation.asking.tool
        if tool is None or tool in self._names or ASK_USER in told:
            return
        told.add(ASK_USER)
        what = f"nothing says how the model asks the user: no tool is called {tool!r}"
        yield self._problem(
            f"{what}. Offer one, or name yours with 'ask_user: {{tool: …}}', or a field of a JSON answer with "
            "'ask_user: {field: status, value: need_input}'",
            "expect",
            case,
        )

    def _forcing(self, case: Case, told: set[str]) -> Iterator[Problem]:
        """Providers refuse a request that forces a tool which it does not offer."""
        for arm in self._evaluation.arms:
            forced = _forced(arm)
            if forced is None or case.tools is None or forced not in self._names:
                continue
            if forced not in case.tools and arm.name not in told:
                told.add(arm.name)
                yield self._problem(f"does not offer {forced!r}, which arm {arm.name!r} forces", "tools", case)


def _forced(arm: Arm) -> str | None:
    """The one tool that an arm's ``tool_choice`` names."""
    choice = None if arm.tool_choice is None else json.loads(arm.tool_choice)
    return str(choice["function"]["name"]) if isinstance(choice, dict) else None
