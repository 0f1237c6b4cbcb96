"""A subject's declared design choices: one enum field for each D number of the catalogue (**wire**)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from harness.types.messages import OnDisk
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


@dataclass(frozen=True, slots=True)
class Profile(OnDisk):
    """What a subject chose where a choice is legitimate. Undeclared fields are left out on disk."""

    request_history: RequestHistory = RequestHistory.UNDECLARED
    observer_throws: ObserverThrows = ObserverThrows.UNDECLARED
    policy_hook_throws: PolicyHookThrows = PolicyHookThrows.UNDECLARED
    step_rejected: StepRejected = StepRejected.UNDECLARED
    rewritten_to_empty: RewrittenToEmpty = RewrittenToEmpty.UNDECLARED
    rewritten_input: RewrittenInput = RewrittenInput.UNDECLARED
    input_at_stopping: InputAtStopping = InputAtStopping.UNDECLARED
    concluding_result: ConcludingResult = ConcludingResult.UNDECLARED
    terminating_batch: TerminatingBatch = TerminatingBatch.UNDECLARED
    nothing_to_continue: NothingToContinue = NothingToContinue.UNDECLARED
    offered_tool_order: OfferedToolOrder = OfferedToolOrder.UNDECLARED
    header_change: HeaderChange = HeaderChange.UNDECLARED
    stepwise_driving: StepwiseDriving = StepwiseDriving.UNDECLARED
    reused_call_id: ReusedCallId = ReusedCallId.UNDECLARED
    empty_arguments: EmptyArguments = EmptyArguments.UNDECLARED
    undeclared_property: UndeclaredProperty = UndeclaredProperty.UNDECLARED
    tool_timeout: ToolTimeout = ToolTimeout.UNDECLARED
    parallel_siblings: ParallelSiblings = ParallelSiblings.UNDECLARED
    tool_pool: ToolPool = ToolPool.UNDECLARED
    exclusive_call: ExclusiveCall = ExclusiveCall.UNDECLARED
    unclear_mode: UnclearMode = UnclearMode.UNDECLARED
    mode_reading: ModeReading = ModeReading.UNDECLARED
    sequential_tool: SequentialTool = SequentialTool.UNDECLARED
    tool_end_order: ToolEndOrder = ToolEndOrder.UNDECLARED
    tool_hook_order: ToolHookOrder = ToolHookOrder.UNDECLARED
    denied_call: DeniedCall = DeniedCall.UNDECLARED
    hook_changed_arguments: HookChangedArguments = HookChangedArguments.UNDECLARED
    tool_added_context: ToolAddedContext = ToolAddedContext.UNDECLARED
    ask_without_approver: AskWithoutApprover = AskWithoutApprover.UNDECLARED
    approval_after_cancel: ApprovalAfterCancel = ApprovalAfterCancel.UNDECLARED
    tool_not_allowed: ToolNotAllowed = ToolNotAllowed.UNDECLARED
    oversized_result: OversizedResult = OversizedResult.UNDECLARED
    repeated_call: RepeatedCall = RepeatedCall.UNDECLARED
    loop_detection: LoopDetection = LoopDetection.UNDECLARED
    streamed_prefix: StreamedPrefix = StreamedPrefix.UNDECLARED
    result_after_cancel: ResultAfterCancel = ResultAfterCancel.UNDECLARED
    own_error_at_cancel: OwnErrorAtCancel = OwnErrorAtCancel.UNDECLARED
    uncooperative_tool: UncooperativeTool = UncooperativeTool.UNDECLARED
    cancel_cause: CancelCause = CancelCause.UNDECLARED
    cancel_during_approval: CancelDuringApproval = CancelDuringApproval.UNDECLARED
    parent_cancel: ParentCancel = ParentCancel.UNDECLARED
    max_tokens: MaxTokens = MaxTokens.UNDECLARED
    max_tokens_next_turn: MaxTokensNextTurn = MaxTokensNextTurn.UNDECLARED
    empty_cut_answer: EmptyCutAnswer = EmptyCutAnswer.UNDECLARED
    budget_checks: BudgetChecks = BudgetChecks.UNDECLARED
    limit_precedence: LimitPrecedence = LimitPrecedence.UNDECLARED
    retry_counting: RetryCounting = RetryCounting.UNDECLARED
    steering: Steering = Steering.UNDECLARED
    inject_while_idle: InjectWhileIdle = InjectWhileIdle.UNDECLARED
    input_during_request: InputDuringRequest = InputDuringRequest.UNDECLARED
    input_batching: InputBatching = InputBatching.UNDECLARED
    calls_left_at_steering: CallsLeftAtSteering = CallsLeftAtSteering.UNDECLARED
    kept_queue: KeptQueue = KeptQueue.UNDECLARED
    removed_wake: RemovedWake = RemovedWake.UNDECLARED
    input_after_disposal: InputAfterDisposal = InputAfterDisposal.UNDECLARED
    queue_after_block: QueueAfterBlock = QueueAfterBlock.UNDECLARED
    reentrant_append: ReentrantAppend = ReentrantAppend.UNDECLARED
    invalid_replacement: InvalidReplacement = InvalidReplacement.UNDECLARED
    rewritten_result: RewrittenResult = RewrittenResult.UNDECLARED
    compaction: Compaction = Compaction.UNDECLARED
    unknown_event: UnknownEvent = UnknownEvent.UNDECLARED
    late_progress: LateProgress = LateProgress.UNDECLARED
    message_events: MessageEvents = MessageEvents.UNDECLARED
    retried_errors: RetriedErrors = RetriedErrors.UNDECLARED
    retry_delay: RetryDelay = RetryDelay.UNDECLARED
    context_overflow: ContextOverflow = ContextOverflow.UNDECLARED


PROFILE_FIELDS: Final[dict[str, str]] = {
    "7": "request_history",
    "11": "observer_throws",
    "12": "policy_hook_throws",
    "13": "step_rejected",
    "14": "rewritten_to_empty",
    "15": "rewritten_input",
    "16": "input_at_stopping",
    "17": "concluding_result",
    "18": "terminating_batch",
    "19": "nothing_to_continue",
    "24": "offered_tool_order",
    "25": "header_change",
    "27": "stepwise_driving",
    "32": "reused_call_id",
    "37": "empty_arguments",
    "38": "undeclared_property",
    "41": "tool_timeout",
    "42": "parallel_siblings",
    "43": "tool_pool",
    "45": "exclusive_call",
    "46": "unclear_mode",
    "47": "mode_reading",
    "48": "sequential_tool",
    "50": "tool_end_order",
    "51": "tool_hook_order",
    "52": "denied_call",
    "54": "hook_changed_arguments",
    "55": "tool_added_context",
    "57": "ask_without_approver",
    "58": "approval_after_cancel",
    "59": "tool_not_allowed",
    "60": "oversized_result",
    "61": "repeated_call",
    "62": "loop_detection",
    "70": "streamed_prefix",
    "73": "result_after_cancel",
    "74": "own_error_at_cancel",
    "77": "uncooperative_tool",
    "80": "cancel_cause",
    "85": "cancel_during_approval",
    "88": "parent_cancel",
    "95": "max_tokens",
    "96": "max_tokens_next_turn",
    "97": "empty_cut_answer",
    "100": "budget_checks",
    "101": "limit_precedence",
    "102": "retry_counting",
    "104": "steering",
    "105": "inject_while_idle",
    "106": "input_during_request",
    "107": "input_batching",
    "108": "calls_left_at_steering",
    "110": "kept_queue",
    "112": "removed_wake",
    "113": "input_after_disposal",
    "114": "queue_after_block",
    "121": "reentrant_append",
    "124": "invalid_replacement",
    "125": "rewritten_result",
    "127": "compaction",
    "128": "unknown_event",
    "146": "late_progress",
    "147": "message_events",
    "151": "retried_errors",
    "152": "retry_delay",
    "153": "context_overflow",
}
"""The field of :class:`Profile` that declares each D number of CONFORMANCE, in its order."""
