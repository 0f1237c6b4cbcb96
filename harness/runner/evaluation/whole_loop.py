"""One trial as a whole run: the loop with its tools, as the evaluation asked for in so many words."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

from harness.errors import CassetteMiss, UnsupportedError
from harness.folds import answer_of, calls_of
from harness.runner.evaluation.asking import OF_THE_MODEL, OF_THE_PROVIDER, EvaluationStopped, retries
from harness.runner.evaluation.plan import EvaluationPlan
from harness.runner.executing import execute
from harness.runner.judging import OUT_OF_DATE
from harness.runner.result import RunResult
from harness.runner.specs import ModelSource, RunOptions, RunSpec
from harness.types.codes import Code, Status
from harness.types.doors import ModelCall
from harness.types.evaluation import Arm, Case, Evaluation, Execute, SourceKind, ToolOrder
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage, ModelFailed, ModelRetry, ToolResult
from harness.types.jsontext import canonical_json
from harness.types.messages import ChatSystem, ChatUser
from harness.types.reasons import Failed, Usage
from harness.types.records import Verdict
from harness.types.scenario import Scenario, Stub, ToolsSpec
from harness.types.trials import AnswerOrigin, Owner, Provenance, Trial, TrialAnswer, TrialCall, TrialError, TrialKey

_NO_STUB: Final = Stub(raises="this tool stands here as a distractor and does nothing", code=Code.TOOL_FAILED)
_OK: Final = "OK"


class OutOfDate(CassetteMiss):
    """The recording of a run does not answer what is asked now; ``verdict`` says why."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.why)
        self.verdict = verdict


def scenario_of(plan: EvaluationPlan, arm: int, case: Case, call: ModelCall) -> Scenario:
    """The scenario of a case under an arm: its question, the tools as the arm offers them, the evaluation's limits.

    Raises UnsupportedError for what a run of the loop cannot begin with.
    """
    evaluation, chosen = plan.evaluation, plan.evaluation.arms[arm]
    if chosen.order not in (None, ToolOrder.LISTED):
        raise _unsupported(f"arm {chosen.name!r} orders its tools, and the loop always offers them by name")
    parameters: dict[str, Any] = json.loads(call.parameters)
    parameters.pop("model", None)
    system = "\n\n".join(str(one.content) for one in call.system if isinstance(one, ChatSystem))
    return Scenario(
        id=f"{plan.recorded_as}/{chosen.name}/{case.id}",
        tasks=(_task(case, call),),
        system=system or None,
        tools=_tools(evaluation, chosen, case, call),
        model=replace(plan.model_of(arm), parameters=canonical_json(parameters)),
        limits=evaluation.limits,
        retry=retries(0 if plan.source is ModelSource.CASSETTE else evaluation.running.retries),
        seed=evaluation.seed,
        digest=evaluation.digest,
    )


def _task(case: Case, call: ModelCall) -> str:
    if len(call.messages) != 1:
        raise _unsupported(f"case {case.id!r} begins with a conversation (its history, or the arm's history_turns)")
    (only,) = call.messages
    assert isinstance(only, ChatUser)  # a request without history is the question
    return str(only.content)


def _unsupported(what: str) -> UnsupportedError:
    return UnsupportedError(
        f"{what}: a run of the whole loop begins with the question alone and offers tools by name. Judge the first "
        "decision (leave 'execute' and 'stubs' out), or take that out"
    )


# ---------------------------------------------------------------- tools


def _tools(evaluation: Evaluation, arm: Arm, case: Case, call: ModelCall) -> ToolsSpec:
    if evaluation.execute is Execute.TOOLS:
        return _real_tools(evaluation, arm, case)
    offered: list[dict[str, Any]] = json.loads(call.tools)
    stubs, original = dict(evaluation.stubs), {new: old for old, new in arm.rename}
    made: list[tuple[str, Stub]] = []
    for tool in offered:
        name: str = tool["name"]
        stub = stubs.get(original.get(name, name), stubs.get(name))
        made.append((name, replace(stub or _NO_STUB, description=tool["description"])))
    schemas = tuple((str(tool["name"]), canonical_json(tool["parameters"])) for tool in offered)
    return ToolsSpec(stubs=tuple(sorted(made)), schemas=tuple(sorted(schemas)))


def check_stubs(plan: EvaluationPlan) -> None:
    """Raise UnsupportedError where a tool of the evaluation has no stub, and none of its own would run."""
    if plan.evaluation.execute is not Execute.STUBS:
        return
    stubs = {name for name, _ in plan.evaluation.stubs}
    missing = sorted(tool.name for tool in plan.snapshot.tools if tool.name not in stubs)
    if missing:
        raise UnsupportedError(
            f"tool {missing[0]!r} has no stub, and nothing of yours is run unless the file says 'execute: true': "
            f"add it to 'stubs' (missing: {', '.join(missing)})"
        )


def _real_tools(evaluation: Evaluation, arm: Arm, case: Case) -> ToolsSpec:
    use = tuple(name for one in evaluation.sources if one.kind is SourceKind.USE for name in one.names)
    registries = [one.location for one in evaluation.sources if one.kind is SourceKind.FROM]
    others = [one.kind.value for one in evaluation.sources if one.kind not in (SourceKind.USE, SourceKind.FROM)]
    if others or len(registries) > 1:
        raise UnsupportedError(
            f"'execute: true' runs the tools of one registry ('from') and built-in ones ('use'), not of "
            f"{others[0] if others else 'several registries'}: give the evaluation 'stubs'"
        )
    if arm.descriptions or arm.parameter_descriptions or arm.rename or arm.distractors or not arm.offer_tools:
        raise UnsupportedError(
            f"arm {arm.name!r} changes the tools, and 'execute: true' runs them as they are: give the evaluation "
            "'stubs'"
        )
    source = registries[0] if registries else None
    return ToolsSpec(use=use, source=source, stubs=evaluation.stubs, visible=case.tools)


# ---------------------------------------------------------------- the run


def run_trial(plan: EvaluationPlan, arm: int, case: Case, call: ModelCall, key: TrialKey, request: str) -> Trial:
    """Run the loop and make the trial's record of its trajectory, which is kept below the folder.

    Raises CassetteMiss where the recording does not fit any more, EvaluationStopped for what ends everything, and
    what a run raises.
    """
    options = RunOptions(
        source=plan.source,
        arm=key.arm,
        cassettes=plan.options.cassettes,
        folder=plan.options.folder,
        model=plan.own or None,
        environ=plan.options.environ,
    )
    result = execute(RunSpec(scenario_of(plan, arm, case, call), options, key.trial))
    _look_at_recording(result)
    error = _error_of(result)
    usage = _usage(result.trajectory)
    n_retries = sum(isinstance(event.fact, ModelRetry) for event in result.trajectory.events)
    made = Trial(*key, request, usage=usage, n_retries=n_retries, by=_provenance(plan, result.trajectory))
    return replace(made, error=error) if error is not None else replace(made, answer=_answer(result))


def _look_at_recording(result: RunResult) -> None:
    for verdict in result.verdicts:
        if any(finding.rule == OUT_OF_DATE for finding in verdict.findings):
            raise OutOfDate(verdict)


def _error_of(result: RunResult) -> TrialError | None:
    if result.status is not Status.FAILED or not isinstance(result.reason, Failed):
        return None
    code, message = result.reason.code, result.reason.message
    if code in (Code.AUTH, Code.QUOTA, Code.NO_MODEL, Code.RECORDING_FAILED):
        raise EvaluationStopped(f"the endpoint refuses every request ({code}): {message}")
    if code in OF_THE_PROVIDER:
        return TrialError(code, message, Owner.PROVIDER)
    if code is Code.INVALID_REQUEST:
        return TrialError(code, message, Owner.HARNESS)
    if code in OF_THE_MODEL or not _failed_at_the_model(result.trajectory):
        return TrialError(code, message, Owner.AGENT)
    raise EvaluationStopped(f"the model failed ({code}): {message}")


def _failed_at_the_model(trajectory: Trajectory) -> bool:
    facts = [event.fact for event in trajectory.events if not event.agent]
    return any(isinstance(fact, ModelFailed) for fact in facts)


def _answer(result: RunResult) -> TrialAnswer:
    traces = calls_of(result.trajectory)
    return TrialAnswer(
        content=answer_of(result.trajectory),
        calls=tuple(TrialCall(one.call.name, one.call.arguments, one.call.id) for one in traces),
        finish_reason=next((fact.finish_reason for fact in reversed(_messages(result.trajectory))), None),
        n_steps=result.n_steps,
        status=result.status,
        result_codes=tuple(_code_of(one.result.fact if one.result is not None else None) for one in traces),
        trajectory=result.file or None,
    )


def _code_of(fact: object) -> str:
    if not isinstance(fact, ToolResult):
        return Code.TOOL_NOT_STARTED
    return fact.code or _OK


def _messages(trajectory: Trajectory) -> list[AssistantMessage]:
    return [event.fact for event in trajectory.events if isinstance(event.fact, AssistantMessage)]


def _usage(trajectory: Trajectory) -> Usage | None:
    told = [
        event.fact.usage
        for event in trajectory.events
        if isinstance(event.fact, AssistantMessage | ModelFailed) and event.fact.usage is not None
    ]
    if not told:
        return None
    costs = [one.cost_micro_usd for one in told if one.cost_micro_usd is not None]
    return Usage(
        input_tokens=sum(one.input_tokens or 0 for one in told),
        output_tokens=sum(one.output_tokens or 0 for one in told),
        cost_micro_usd=sum(costs) if costs else None,
    )


def _provenance(plan: EvaluationPlan, trajectory: Trajectory) -> Provenance:
    origins = {ModelSource.OWN: AnswerOrigin.SCRIPTED, ModelSource.CASSETTE: AnswerOrigin.RECORDED}
    origin = origins.get(plan.source, AnswerOrigin.LIVE)
    last = next(iter(reversed(_messages(trajectory))), None)
    at = trajectory.header.volatile.started_at if origin is AnswerOrigin.LIVE else None
    model, fingerprint = (last.model, last.fingerprint) if last is not None else (None, None)
    return Provenance(origin, model, fingerprint, at=at)
