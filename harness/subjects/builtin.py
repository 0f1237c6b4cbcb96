"""The built-in loop as a subject, with the choices it declares."""

from __future__ import annotations

from typing import Final

from harness.folds import CallIds
from harness.loop import Driver, Hooks, Offering, Policies, StrictAnswers
from harness.models import RecordingDoor
from harness.protocols import World
from harness.subjects.children import Crew, allowed_of, offering_of
from harness.subjects.outcomes import outcome_judge
from harness.tools import Door
from harness.types.codes import Origin
from harness.types.messages import ChatSystem, JsonText
from harness.types.profile import Profile
from harness.types.profile_loop import (
    BudgetChecks,
    ConcludingResult,
    EmptyCutAnswer,
    HeaderChange,
    InputAtStopping,
    LimitPrecedence,
    MaxTokens,
    MaxTokensNextTurn,
    NothingToContinue,
    ObserverThrows,
    OfferedToolOrder,
    PolicyHookThrows,
    RequestHistory,
    RetryCounting,
    RewrittenInput,
    RewrittenToEmpty,
    StepRejected,
    StepwiseDriving,
    TerminatingBatch,
)
from harness.types.profile_run import (
    CallsLeftAtSteering,
    CancelCause,
    CancelDuringApproval,
    Compaction,
    ContextOverflow,
    InjectWhileIdle,
    InputAfterDisposal,
    InputBatching,
    InputDuringRequest,
    KeptQueue,
    LateProgress,
    OwnErrorAtCancel,
    ParentCancel,
    QueueAfterBlock,
    ReentrantAppend,
    RemovedWake,
    ResultAfterCancel,
    RetriedErrors,
    RetryDelay,
    RewrittenResult,
    Steering,
    StreamedPrefix,
    UncooperativeTool,
    UnknownEvent,
)
from harness.types.profile_tools import (
    ApprovalAfterCancel,
    AskWithoutApprover,
    DeniedCall,
    EmptyArguments,
    ExclusiveCall,
    HookChangedArguments,
    LoopDetection,
    ModeReading,
    OversizedResult,
    ParallelSiblings,
    RepeatedCall,
    ReusedCallId,
    SequentialTool,
    ToolAddedContext,
    ToolEndOrder,
    ToolHookOrder,
    ToolNotAllowed,
    ToolPool,
    ToolTimeout,
    UnclearMode,
    UndeclaredProperty,
)
from harness.types.scenario import NO_PARAMETERS

BUILT_IN_PROFILE: Final = Profile(
    request_history=RequestHistory.APPEND_ONLY,
    observer_throws=ObserverThrows.CHANGES_NOTHING,
    policy_hook_throws=PolicyHookThrows.FAILS_RUN,
    step_rejected=StepRejected.BLOCKED,
    rewritten_to_empty=RewrittenToEmpty.COMPLETED_WITHOUT_STEP,
    rewritten_input=RewrittenInput.RECORDED_AND_SENT,
    input_at_stopping=InputAtStopping.ONE_MORE_STEP,
    concluding_result=ConcludingResult.STOPS_UNLESS_STEERED,
    terminating_batch=TerminatingBatch.ANY_OF_BATCH,
    nothing_to_continue=NothingToContinue.NO_OP,
    offered_tool_order=OfferedToolOrder.BY_NAME,
    header_change=HeaderChange.FULL_SNAPSHOT,
    stepwise_driving=StepwiseDriving.SAME_LOG,
    reused_call_id=ReusedCallId.ACCEPTED,
    empty_arguments=EmptyArguments.EMPTY_OBJECT,
    undeclared_property=UndeclaredProperty.REJECTED,
    tool_timeout=ToolTimeout.ERROR_RESULT,
    parallel_siblings=ParallelSiblings.OVERLAP,
    tool_pool=ToolPool.ROLLING_CAP,
    exclusive_call=ExclusiveCall.BARRIER,
    unclear_mode=UnclearMode.EXCLUSIVE,
    mode_reading=ModeReading.BEFORE_EACH_START,
    sequential_tool=SequentialTool.ITSELF_ONLY,
    tool_end_order=ToolEndOrder.COMPLETION,
    tool_hook_order=ToolHookOrder.NOT_OFFERED,
    denied_call=DeniedCall.ERROR_RESULT,
    hook_changed_arguments=HookChangedArguments.NOT_OFFERED,
    tool_added_context=ToolAddedContext.NOT_OFFERED,
    ask_without_approver=AskWithoutApprover.NOT_OFFERED,
    approval_after_cancel=ApprovalAfterCancel.NOT_OFFERED,
    tool_not_allowed=ToolNotAllowed.ERROR_RESULT,
    oversized_result=OversizedResult.TRUNCATED_AND_MARKED,
    repeated_call=RepeatedCall.STOPS,
    loop_detection=LoopDetection.BOTH,
    streamed_prefix=StreamedPrefix.NOT_STREAMED,
    result_after_cancel=ResultAfterCancel.KEPT,
    own_error_at_cancel=OwnErrorAtCancel.KEEPS_ITS_CODE,
    uncooperative_tool=UncooperativeTool.ABANDONED_AND_NAMED,
    cancel_cause=CancelCause.FIRST,
    cancel_during_approval=CancelDuringApproval.NOT_OFFERED,
    parent_cancel=ParentCancel.REACHES_CHILDREN,
    max_tokens=MaxTokens.ENDS_TURN,
    max_tokens_next_turn=MaxTokensNextTurn.NOTHING,
    empty_cut_answer=EmptyCutAnswer.NOT_SENT_BACK,
    budget_checks=BudgetChecks.BEFORE_REQUESTS_AND_BODIES,
    limit_precedence=LimitPrecedence.CANCEL_TIME_STEPS,
    retry_counting=RetryCounting.ATTEMPT_OF_ONE_STEP,
    steering=Steering.NEXT_REQUEST,
    inject_while_idle=InjectWhileIdle.STARTS_NOTHING,
    input_during_request=InputDuringRequest.NEXT_REQUEST,
    input_batching=InputBatching.ONE_FOLLOWUP_ALL_STEERING,
    calls_left_at_steering=CallsLeftAtSteering.RUN,
    kept_queue=KeptQueue.PARKED_UNTIL_WAKE,
    removed_wake=RemovedWake.NO_TURN,
    input_after_disposal=InputAfterDisposal.REFUSED,
    queue_after_block=QueueAfterBlock.PARKED_IN_ORDER,
    reentrant_append=ReentrantAppend.QUEUED,
    rewritten_result=RewrittenResult.NOT_OFFERED,
    compaction=Compaction.NOT_OFFERED,
    unknown_event=UnknownEvent.REFUSED_UNLESS_IGNORABLE,
    late_progress=LateProgress.NOT_OFFERED,
    retried_errors=RetriedErrors.TRANSIENT,
    retry_delay=RetryDelay.RETRY_AFTER_AND_BACKOFF,
    context_overflow=ContextOverflow.FAILS_RUN,
)
"""What the built-in loop chooses today; what it does not offer yet says so."""

_PROBED: Final = (
    "request/header",
    "model/request",
    "model/error",
    "tool/start",
    "tool/end",
    "cancel/requested",
    "cancel/delivered",
    "run/quiescent",
)
_TOLD: Final = (
    "run/start",
    "run/end",
    "inbox/queued",
    "inbox/claimed",
    "inbox/discarded",
    "model/retry",
    "turn/start",
    "turn/end",
    "step/start",
    "step/end",
    "user/message",
    "assistant/message",
    "tool/call",
    "tool/result",
)


class BuiltInLoop:
    """The built-in loop: one driver, the scenario's tasks as turns, one after the other; it takes input meanwhile."""

    name = "built-in"
    profile = BUILT_IN_PROFILE
    observed = (
        *((kind, Origin.PROBE) for kind in _PROBED),
        *((kind, Origin.SUBJECT) for kind in _TOLD),
    )

    def __init__(self, hooks: Hooks | None = None, offering: Offering | None = None) -> None:
        self._hooks = hooks
        self._offering = offering

    async def run(self, world: World) -> None:
        """Send each task when the one before is done; stop sending when the run was cancelled.

        The run ends when nothing is to be sent and nobody has announced more input.
        """
        driver = self._driver(world)
        world.attach(driver)
        unsent = list(world.scenario.tasks)
        driver.open()
        try:
            while True:
                if unsent and not driver.is_stopped:
                    driver.send(unsent.pop(0))
                await driver.run_until_idle()
                if (driver.is_stopped or not unsent) and not await driver.awaited():
                    break
        finally:
            driver.close(n_unsent=len(unsent))

    def _driver(self, world: World) -> Driver:
        scenario = world.scenario
        ids = CallIds()
        tools = Crew(world).tools("", ids, grace_ms=world.limits.grace_ms)
        door = Door(
            tools,
            log=world.log,
            clock=world.clock,
            allowed=allowed_of(scenario, tools),
            timeout_ms=world.limits.tool_timeout_ms,
            grace_ms=world.limits.grace_ms,
            redact=world.redact,
            faults=world.faults,
            gate=world.gate,
            policy=scenario.tool_policy,
        )
        return Driver(
            model=RecordingDoor(
                StrictAnswers(world.model),
                world.log,
                redact=world.redact,
                others={role: StrictAnswers(model) for role, model in world.models.items()},
            ),
            tools=door,
            log=world.log,
            limits=world.limits,
            system=(ChatSystem(scenario.system),) if scenario.system else (),
            parameters=_parameters(world),
            hooks=self._hooks,
            policies=Policies(
                retry=scenario.retry,
                outcome=outcome_judge(scenario.outcome),
                offering=self._offering or offering_of(scenario),
            ),
            ids=ids,
        )


def _parameters(world: World) -> JsonText:
    model = world.scenario.model
    return model.parameters if model else NO_PARAMETERS
