"""The built-in loop as a subject, with the choices it declares."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from harness.errors import UnsupportedError
from harness.folds import pending_input, unasked
from harness.guarding import Guard
from harness.loop import Driver, Hooks, Policies
from harness.protocols import Approver, World
from harness.subjects.approving import ScriptedApprover
from harness.subjects.children import Family
from harness.subjects.outcomes import outcome_judge
from harness.subjects.summarising import summarise_of
from harness.tools.rules import rules_of
from harness.types.codes import Origin
from harness.types.facts import PROBED, TOLD
from harness.types.going_on import GoingOn, GoingOnWhy
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
    InvalidReplacement,
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
    UnclearMode,
    UndeclaredProperty,
)
from harness.types.scenario import Scenario

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
    tool_hook_order=ToolHookOrder.MODEL,
    denied_call=DeniedCall.ERROR_RESULT,
    hook_changed_arguments=HookChangedArguments.CHECKED_AGAIN,
    tool_added_context=ToolAddedContext.AFTER_ALL_RESULTS,
    ask_without_approver=AskWithoutApprover.DENIED,
    approval_after_cancel=ApprovalAfterCancel.DISCARDED,
    tool_not_allowed=ToolNotAllowed.ERROR_RESULT,
    oversized_result=OversizedResult.TRUNCATED_AND_MARKED,
    repeated_call=RepeatedCall.STOPS,
    loop_detection=LoopDetection.BOTH,
    streamed_prefix=StreamedPrefix.KEPT_AND_MARKED,
    result_after_cancel=ResultAfterCancel.KEPT,
    own_error_at_cancel=OwnErrorAtCancel.KEEPS_ITS_CODE,
    uncooperative_tool=UncooperativeTool.ABANDONED_AND_NAMED,
    cancel_cause=CancelCause.FIRST,
    cancel_during_approval=CancelDuringApproval.CANCELLED,
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
    invalid_replacement=InvalidReplacement.REFUSED,
    rewritten_result=RewrittenResult.CONTENT_ONLY,
    compaction=Compaction.WHERE_CALLS_BALANCE,
    unknown_event=UnknownEvent.REFUSED_UNLESS_IGNORABLE,
    late_progress=LateProgress.NOT_OFFERED,
    message_events=MessageEvents.END_ONLY,
    retried_errors=RetriedErrors.TRANSIENT,
    retry_delay=RetryDelay.RETRY_AFTER_AND_BACKOFF,
    context_overflow=ContextOverflow.FAILS_RUN,
)
"""What the built-in loop chooses today; what it does not offer yet says so."""


class BuiltInLoop:
    """The built-in loop: one driver, the scenario's tasks as turns, one after the other; it takes input meanwhile."""

    name = "built-in"
    goes_on = True
    profile = BUILT_IN_PROFILE
    observed = (
        *((kind, Origin.PROBE) for kind in PROBED),
        *((kind, Origin.SUBJECT) for kind in TOLD),
    )

    def __init__(self, hooks: Hooks | None = None) -> None:
        self._hooks = hooks

    def profile_for(self, scenario: Scenario) -> Profile:
        """The profile of a run of ``scenario``, whose policies change some choices (CONFORMANCE 7, 60, 153)."""
        profile = self.profile
        if scenario.context.window is not None:
            profile = replace(profile, request_history=RequestHistory.WINDOWED)
        if scenario.context.compact is not None:
            profile = replace(profile, context_overflow=ContextOverflow.COMPACTED_AND_RETRIED_ONCE)
        if scenario.tool_policy.summarises:
            profile = replace(profile, oversized_result=OversizedResult.SUMMARISED_AND_MARKED)
        return profile

    async def run(self, world: World) -> None:
        """Send each task when the one before is done; stop sending when the run was cancelled.

        The run ends when nothing is to be sent and nobody has announced more input.
        """
        if world.scenario.faults:
            raise UnsupportedError(
                f"scenario {world.scenario.id!r} has faults of the wire, and no wire is between this loop and its "
                "script: run it with a loop of your own or 'harness serve', or script 'fail' and 'fail_after'"
            )
        driver = self._driver(world)
        world.attach(driver)
        going_on = world.going_on
        unsent = list(world.scenario.tasks if going_on is None else going_on.tasks)
        driver.open(*((going_on.past, dict(going_on.answers)) if going_on else ()))
        try:
            if going_on is not None:
                await _take_up(driver, going_on)
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
        policies = Policies(
            retry=scenario.retry,
            outcome=outcome_judge(scenario.outcome),
            guard=Guard(rules_of(scenario.policy, world.tools), _approver(world)),
            context=scenario.context,
            summarise=summarise_of(world),
        )
        return Family(world, hooks=self._hooks, policies=policies).main()


async def _take_up(driver: Driver, going_on: GoingOn) -> None:
    """A fork leaves what was pending to its parent; then the work that was under way comes before what is new."""
    if going_on.why is GoingOnWhy.FORK:
        for fact in pending_input(going_on.past):
            for message in fact.messages:
                driver.remove(message.id, why="not inherited by a fork")
    await driver.run_until_idle()


def _approver(world: World) -> Approver | None:
    """Whoever the run was given, else the scenario's script (behind what it has said before), else nobody."""
    approvals = world.scenario.policy.approvals
    if world.approver is not None or not approvals:
        return world.approver
    left = unasked(approvals, world.going_on.past if world.going_on else ())
    return ScriptedApprover([approval for _, approval in left], world.clock)
