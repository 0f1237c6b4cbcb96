"""One trial as a whole run: the loop with its tools, as the evaluation asked for in so many words."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

from harness.errors import CassetteMiss, ToolSourceError, UnsupportedError
from harness.folds import answer_of, calls_of, told_usages
from harness.runner.evaluation.asking import OF_THE_MODEL, OF_THE_PROVIDER, EvaluationStopped, owner_of, retries
from harness.runner.evaluation.bodies import TrialTools, calls_servers, tools_spec
from harness.runner.evaluation.plan import EvaluationPlan
from harness.runner.executing import execute
from harness.runner.result import RunResult
from harness.runner.specs import ModelSource, RunOptions, RunSpec
from harness.subjects import BuiltInLoop
from harness.types.codes import ClockKind, Code, Status
from harness.types.doors import ModelCall
from harness.types.evaluation import Case, Execute
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage, ModelFailed, ModelRetry, ToolResult
from harness.types.jsontext import canonical_json
from harness.types.messages import ChatSystem, ChatUser
from harness.types.profile_loop import OfferedToolOrder
from harness.types.reasons import Failed, Usage
from harness.types.records import Verdict
from harness.types.scenario import Scenario
from harness.types.trials import AnswerOrigin, Owner, Provenance, Trial, TrialAnswer, TrialCall, TrialError, TrialKey
from harness.types.verdict_names import OUT_OF_DATE

_OK: Final = "OK"


class OutOfDate(CassetteMiss):
    """The recording of a run does not answer what is asked now; ``verdict`` says why."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.why)
        self.verdict = verdict


class _InOrder(BuiltInLoop):
    """The built-in loop where an arm offers its tools in another order than by name."""

    profile = replace(BuiltInLoop.profile, offered_tool_order=OfferedToolOrder.AS_REGISTERED)


def scenario_of(plan: EvaluationPlan, arm: int, case: Case, call: ModelCall) -> Scenario:
    """The scenario of a case under an arm: its question, its model, the evaluation's limits. Its tools are given to
    the run itself (:class:`TrialTools`).

    Raises UnsupportedError for what a run of the loop cannot begin with.
    """
    evaluation = plan.evaluation
    parameters: dict[str, Any] = json.loads(call.parameters)
    parameters.pop("model", None)
    system = "\n\n".join(str(one.content) for one in call.system if isinstance(one, ChatSystem))
    return Scenario(
        id=f"{plan.recorded_as}/{evaluation.arms[arm].name}/{case.id}",
        tasks=(_task(case, call),),
        system=system or None,
        tools=tools_spec(evaluation),
        model=replace(plan.model_of(arm), parameters=canonical_json(parameters)),
        limits=evaluation.limits,
        retry=retries(0 if plan.source is ModelSource.CASSETTE else evaluation.running.retries),
        clock=ClockKind.SYSTEM if calls_servers(plan) else None,
        seed=evaluation.seed,
        digest=evaluation.digest,
    )


def check_beginnings(plan: EvaluationPlan) -> None:
    """Raise UnsupportedError where a run of the loop would begin with more than a question, before any is paid for."""
    evaluation = plan.evaluation
    if evaluation.execute is Execute.FIRST:
        return
    for arm in (evaluation.arms[at] for at in plan.arms):
        if arm.history_turns:
            raise _unsupported(f"arm {arm.name!r} has 'history_turns'")
    for case in evaluation.cases:
        if case.history:
            raise _unsupported(f"case {case.id!r} begins with a conversation ('history')")


def _task(case: Case, call: ModelCall) -> str:
    if len(call.messages) != 1:
        raise _unsupported(f"case {case.id!r} begins with a conversation (its history, or the arm's history_turns)")
    (only,) = call.messages
    assert isinstance(only, ChatUser)  # a request without history is the question
    return str(only.content)


def _unsupported(what: str) -> UnsupportedError:
    return UnsupportedError(
        f"{what}: a run of the whole loop begins with the question alone. Judge the first decision (leave 'execute' "
        "and 'stubs' out), or take that out"
    )


# ---------------------------------------------------------------- the run


def run_trial(plan: EvaluationPlan, arm: int, case: Case, call: ModelCall, key: TrialKey, request: str) -> Trial:
    """Run the loop and make the trial's record of its trajectory, which is kept below the folder.

    Raises CassetteMiss where the recording does not fit any more, EvaluationStopped for what ends everything,
    ToolSourceError where a server of tools failed or offers others now, and what a run raises.
    """
    options = RunOptions(
        source=plan.source,
        arm=key.arm,
        cassettes=plan.options.cassettes,
        folder=plan.options.folder,
        model=plan.own or None,
        environ=plan.options.environ,
    )
    chosen = plan.evaluation.arms[arm]
    spec = RunSpec(scenario_of(plan, arm, case, call), options, key.trial)
    names = [tool["name"] for tool in json.loads(call.tools)]
    subject = BuiltInLoop() if names == sorted(names) else _InOrder()
    try:
        result = execute(spec, subject=subject, own_tools=TrialTools(plan, chosen, case, call))
    except ToolSourceError:
        if spec.path is not None:  # the run never began
            spec.path.unlink(missing_ok=True)
        raise
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
    if code in (*OF_THE_PROVIDER, *OF_THE_MODEL, Code.INVALID_REQUEST):
        return TrialError(code, message, owner_of(code, message))
    if not _failed_at_the_model(result.trajectory):
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
    told = [usage for usage in told_usages(trajectory) if usage != Usage()]
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
