"""The built-in loop as a subject, with the choices it declares."""

from __future__ import annotations

from typing import Final

from harness.loop import Driver, Hooks, StrictAnswers
from harness.models import RecordingDoor
from harness.protocols import World
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
    MessageEvents,
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
    oversized_result=OversizedResult.KEPT_WHOLE,
    repeated_call=RepeatedCall.NOT_DETECTED,
    loop_detection=LoopDetection.NEITHER,
    streamed_prefix=StreamedPrefix.KEPT_AND_MARKED,
    result_after_cancel=ResultAfterCancel.KEPT,
    own_error_at_cancel=OwnErrorAtCancel.KEEPS_ITS_CODE,
    uncooperative_tool=UncooperativeTool.ABANDONED_AND_NAMED,
    cancel_cause=CancelCause.FIRST,
    cancel_during_approval=CancelDuringApproval.NOT_OFFERED,
    parent_cancel=ParentCancel.NOT_OFFERED,
    max_tokens=MaxTokens.ENDS_TURN,
    max_tokens_next_turn=MaxTokensNextTurn.NOTHING,
    empty_cut_answer=EmptyCutAnswer.NOT_SENT_BACK,
    budget_checks=BudgetChecks.NOT_OFFERED,
    limit_precedence=LimitPrecedence.FIRST_NOTICED,
    retry_counting=RetryCounting.NO_RETRIES,
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
    message_events=MessageEvents.END_ONLY,
    retried_errors=RetriedErrors.NONE,
    retry_delay=RetryDelay.NO_RETRIES,
    context_overflow=ContextOverflow.FAILS_RUN,
)
"""What the built-in loop chooses today; what it does not offer yet says so."""

_PROBED: Final = (
    "request/header",
    "model/request",
    "assistant/chunk",
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

    def __init__(self, hooks: Hooks | None = None) -> None:
        self._hooks = hooks

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
        door = Door(
            world.tools,
            log=world.log,
            clock=world.clock,
            allowed=scenario.tools.allowed,
            timeout_ms=world.limits.tool_timeout_ms,
            grace_ms=world.limits.grace_ms,
            redact=world.redact,
            faults=world.faults,
        )
        return Driver(
            model=RecordingDoor(StrictAnswers(world.model), world.log, redact=world.redact),
            tools=door,
            log=world.log,
            limits=world.limits,
            system=(ChatSystem(scenario.system),) if scenario.system else (),
            parameters=_parameters(world),
            hooks=self._hooks,
        )


def _parameters(world: World) -> JsonText:
    model = world.scenario.model
    return model.parameters if model else NO_PARAMETERS
