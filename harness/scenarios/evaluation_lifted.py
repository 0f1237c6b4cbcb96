"""An evaluation out of recorded runs (``harness dataset from``).

What the runs did becomes what is expected. Whether that was right is for a reader of the file to say.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from harness.errors import NothingToRunError
from harness.folds import exchanges_of
from harness.matching import exactly
from harness.scenarios.complaints import first_complaint
from harness.scenarios.evaluation_case_fields import CaseFields
from harness.scenarios.evaluation_history_fields import history_document
from harness.scenarios.evaluation_turns import Decision, Decisions, decisions_of, results_of
from harness.scenarios.lifted.input import offered_tools, system_of
from harness.types.evaluation import ASK_USER, EVALUATION_FORMAT, NO_CALL
from harness.types.events import OfferedTool, Trajectory
from harness.types.expectations import CallOrder
from harness.types.jsontext import canonical_json, parse_json
from harness.types.messages import ChatAssistant, ChatCall
from harness.types.reasons import EmittedCall


@dataclass(frozen=True, slots=True)
class LiftedEvaluation:
    """An evaluation's document, and what could not be carried over, sentence by sentence."""

    document: dict[str, Any]
    lost: tuple[str, ...]


def lift_evaluation(runs: Iterable[Trajectory], decisions: Decisions = Decisions.FIRST) -> LiftedEvaluation:
    """The document of an evaluation whose cases are the decisions of these runs, with the tools that they offered.

    Cases of one run, and of all runs of one scenario, are one group: they are no samples of their own. What was
    asked before in the same conversation is no new case. Raises NothingToRunError where no run decided anything.
    """
    lifting = _Lifting(decisions)
    for run in runs:
        lifting.take(run)
    return lifting.lifted()


class _Lifting:
    def __init__(self, decisions: Decisions) -> None:
        self._decisions = decisions
        self._lost: Counter[str] = Counter()
        self._tools: dict[str, OfferedTool] = {}
        self._called: dict[str, set[str]] = {}
        self._cases: dict[str, dict[str, Any]] = {}
        self._numbers: Counter[str] = Counter()
        self._stubs: dict[str, Any] = {}
        self._n_runs = 0

    def take(self, run: Trajectory) -> None:
        self._n_runs += 1
        exchanges = exchanges_of(run)
        for tool in offered_tools(run, exchanges):
            if self._tools.setdefault(tool.name, tool) != tool:
                self._lose(f"tool {tool.name!r} was offered in several forms; the first is kept")
        system = system_of(run, exchanges, self._lose)
        source = run.header.scenario.id if run.header.scenario else str(run.header.run_id).partition("@")[0]
        for decision in decisions_of(run, self._decisions, self._lose):
            self._add(decision, system, source)
        if self._decisions is Decisions.TURN:
            self._remember(run)

    def _remember(self, run: Trajectory) -> None:
        """What tools gave back becomes what their stubs give back for these arguments."""
        for call, content in results_of(run):
            arguments = _arguments(call)
            if content is None or arguments is None:
                self._lose("failed calls have no stub")
                continue
            cases = self._stubs.setdefault(call.name, {"cases": []})["cases"]
            if arguments not in [case["when"] for case in cases]:
                cases.append({"when": arguments, "returns": content})

    def lifted(self) -> LiftedEvaluation:
        if not self._cases:
            what = "no run asked a model anything that can be asked again" if self._n_runs else "there are no runs"
            raise NothingToRunError(f"nothing to make cases of: {what}")
        cases = list(self._cases.values())
        systems = {case["system"] for case in cases}
        shared = systems.pop() if len(systems) == 1 else None
        sizes = Counter(case["group"] for case in cases)
        written = [_shorter(case, shared, is_alone=sizes[case["group"]] == 1) for case in cases]
        document = {
            "format": EVALUATION_FORMAT,
            "title": f"From {self._n_runs} recorded runs" if self._n_runs > 1 else "From a recorded run",
            "tools": {"schemas": self._schemas()},
            **({"system": shared} if shared else {}),
            **({"stubs": self._stubs} if self._decisions is Decisions.TURN and self._stubs else {}),
            "cases": written,
        }
        return LiftedEvaluation(document, tuple(_counted(text, n) for text, n in self._lost.items()))

    def _lose(self, text: str) -> None:
        self._lost[text] += 1

    def _add(self, decision: Decision, system: str | None, source: str) -> None:
        expect = self._expect(decision)
        if expect is None:
            return
        asked: dict[str, Any] = {"ask": decision.ask} if decision.ask else {}
        history = history_document(decision.before)
        case = {**asked, "expect": expect, **({"history": history} if history else {})}
        problem = _problem(case)
        if problem:
            self._lose(f"decisions left out: {problem}")
            return
        key = canonical_json([case.get("ask"), history, system])
        if key in self._cases:
            if self._cases[key]["expect"] != expect:
                self._lose("a question was decided in different ways; what is expected is the first of them")
            return
        self._numbers[source] += 1
        identity = f"{source}-{self._numbers[source]}"[-200:]
        self._cases[key] = {"id": identity, **case, "system": system, "group": source[-200:]}
        self._see(decision.calls)
        for message in decision.before:
            if isinstance(message, ChatAssistant):
                self._see(message.tool_calls)

    def _see(self, calls: Sequence[EmittedCall] | Sequence[ChatCall]) -> None:
        for call in calls:
            self._called.setdefault(call.name, set()).update(_arguments(call) or {})

    def _expect(self, decision: Decision) -> Any:
        if not decision.calls:
            return NO_CALL
        if all(call.name == ASK_USER for call in decision.calls):
            return ASK_USER
        calls = [_call(call) for call in decision.calls]
        if None in calls:
            self._lose("decisions left out: the arguments of a call were no JSON object")
            return None
        if decision.in_order and len(calls) > 1:
            return {CallOrder.IN_ORDER.value: calls}
        return calls[0] if len(calls) == 1 else calls

    def _schemas(self) -> list[dict[str, Any]]:
        unknown = sorted(set(self._called) - set(self._tools))
        if unknown:
            names = ", ".join(map(repr, unknown))
            self._lose(f"no run describes {names}; the file offers them undescribed, with the arguments that were seen")
        tools = [
            {"name": tool.name, "description": tool.description, "parameters": json.loads(tool.parameters)}
            for tool in self._tools.values()
            if not tool.hidden
        ]
        bare = [
            {"name": name, "description": "", "parameters": _schema_of_names(self._called[name])} for name in unknown
        ]
        if not tools and not bare:
            raise NothingToRunError(
                "nothing to make cases of: the runs offered no tools, so there is nothing to select"
            )
        return sorted((*tools, *bare), key=lambda tool: str(tool["name"]))


def _arguments(call: EmittedCall | ChatCall) -> dict[str, Any] | None:
    arguments = parse_json(call.arguments.strip() or "{}")
    return arguments if isinstance(arguments, dict) else None


def _call(call: EmittedCall) -> dict[str, Any] | None:
    arguments = _arguments(call)
    if arguments is None or not call.name:
        return None
    return {call.name: {name: exactly(value) for name, value in arguments.items()}}


def _schema_of_names(names: set[str]) -> dict[str, Any]:
    """What is known of the parameters of a tool that no run describes."""
    return {"type": "object", "properties": {name: {} for name in sorted(names)}, "additionalProperties": True}


def _problem(case: dict[str, Any]) -> str:
    """Why these fields are no case; "": they are one."""
    try:
        CaseFields.model_validate(case)
    except ValidationError as error:
        return first_complaint(error, case)[1]
    return ""


def _shorter(case: dict[str, Any], shared: str | None, *, is_alone: bool) -> dict[str, Any]:
    kept = {name: value for name, value in case.items() if name not in ("system", "group")}
    if not is_alone:
        kept["group"] = case["group"]
    return kept if case["system"] == shared or case["system"] is None else {**kept, "system": case["system"]}


def _counted(text: str, n: int) -> str:
    return text if n == 1 else f"{text} ({n} times)"
