"""A trajectory with every kind of event and every shape of field, as values (`every_kind.jsonl` holds its bytes)."""

from harness.types.codes import (
    ApprovalOutcome,
    CancelBy,
    CancelScope,
    ClockKind,
    Code,
    Effect,
    FinishReason,
    HeaderWhy,
    InboxQueue,
    Isolation,
    LimitKind,
    Mode,
    Origin,
    QueueDisposition,
    Status,
    ToolOutcome,
)
from harness.types.events import Event, Header, OfferedTool, Parent, ScenarioRef, Trajectory, Volatile
from harness.types.exchange import (
    AssistantChunk,
    AssistantMessage,
    ContextReplaced,
    ModelFailed,
    ModelRequest,
    ModelRetry,
    RequestHeader,
    ToolCall,
    ToolEnd,
    ToolResult,
    ToolStart,
    UserMessage,
)
from harness.types.facts import Fact
from harness.types.jsontext import text_digest
from harness.types.lifecycle import (
    ApprovalAnswered,
    ApprovalAsked,
    CancelDelivered,
    CancelRequested,
    InboxClaimed,
    InboxDiscarded,
    InboxQueued,
    Note,
    RunEnd,
    RunQuiescent,
    RunStart,
    StepEnd,
    StepStart,
    TurnEnd,
    TurnStart,
    UnknownFact,
)
from harness.types.messages import (
    CallId,
    ChatAssistant,
    ChatCall,
    ChatDeveloper,
    ChatSystem,
    ChatTool,
    ChatUser,
    ImagePart,
    JsonText,
    MessageBuffer,
    MessageId,
    Messages,
    OtherPart,
    RunId,
    TextPart,
)
from harness.types.profile import Profile, ResultAfterCancel
from harness.types.reasons import (
    Alive,
    Blocked,
    Cancelled,
    Concluded,
    ContentFiltered,
    EmittedCall,
    Failed,
    FinalAnswer,
    Interrupted,
    LimitHit,
    OutOfTokens,
    QueuedMessage,
    Usage,
    Waiting,
)

PROBE, SUBJECT, IMPORT = Origin.PROBE, Origin.SUBJECT, Origin.IMPORT
TOOLS = JsonText('[{"description":"天气","name":"get_weather","parameters":{"type":"object"}}]')
ASK = ChatUser(content="北京今天要带伞吗？\n\u2028 🚀")
SHOWN_CALL = ChatAssistant(
    content=None, tool_calls=(ChatCall("call_1", "get_weather", '{"city": "北京"}', "function"),)
)
SHOWN_RESULT = ChatTool(call_id="call_1", content='{"rain":true}', name="get_weather")

HEADER = Header(
    version="0.1.0",
    run_id=RunId("weather/umbrella@default#2"),
    subject="builtin",
    scenario=ScenarioRef("weather/umbrella", "sha256:0f"),
    expectations=JsonText('{"status":"completed"}'),
    limits=JsonText('{"steps":3}'),
    tools=(
        OfferedTool(
            "get_weather", "天气", JsonText('{"type":"object"}'), Mode.EXCLUSIVE, Effect.READ, Isolation.THREAD
        ),
        OfferedTool("note", "", JsonText("{}"), idempotent=True),
    ),
    profile=Profile(result_after_cancel=ResultAfterCancel.KEPT),
    models=(("main", "scripted"), ("child", "small")),
    arm="new-prompt",
    trial=2,
    clock=ClockKind.VIRTUAL,
    seed=7,
    observed=(("run/start", SUBJECT), ("tool/start", PROBE)),
    parent=Parent(RunId("weather/umbrella@default#1"), 12, "fork"),
    volatile=Volatile("2026-01-02T03:04:05Z", 1234, JsonText('{"python":"3.11"}')),
)


def _requests() -> tuple[Messages, Messages, Messages, Messages]:
    buffer = MessageBuffer([ASK])
    first = buffer.view()
    buffer.append(SHOWN_CALL)
    buffer.append(SHOWN_RESULT)
    window = Messages.of(
        [SHOWN_CALL, SHOWN_RESULT, ChatDeveloper(content="short, please", extra=JsonText('{"name":"dev"}'))]
    )
    return first, first, buffer.view(), window


def _input() -> list[tuple[Origin, Fact]]:
    queued = QueuedMessage(MessageId("m1"), ASK)
    return [
        (SUBJECT, RunStart()),
        (SUBJECT, InboxQueued(InboxQueue.FOLLOWUP, (queued,))),
        (SUBJECT, InboxQueued(InboxQueue.STEER, ())),
        (SUBJECT, TurnStart()),
        (SUBJECT, InboxClaimed(InboxQueue.FOLLOWUP, (MessageId("m1"),))),
        (SUBJECT, InboxDiscarded(InboxQueue.INJECT, (), "cancelled")),
        (SUBJECT, UserMessage(ASK)),
    ]


def _first_step() -> list[tuple[Origin, Fact]]:
    first, again, *_ = _requests()
    usage = Usage(input_tokens=10, output_tokens=2, cached_tokens=0, reasoning_tokens=1, cost_micro_usd=15)
    emitted = (
        EmittedCall(CallId("call_1"), "get_weather", '{"city": "北京"}', type="function"),
        EmittedCall(CallId("1.1.1"), "", '{"city": ', wire_id=""),
    )
    return [
        (SUBJECT, StepStart()),
        (PROBE, RequestHeader((ChatSystem(content="be brief"),), TOOLS, JsonText("{}"), HeaderWhy.INITIAL)),
        (PROBE, ModelRequest(first)),
        (PROBE, ModelFailed(Code.RATE_LIMIT, "slow down", usage=Usage())),
        (SUBJECT, ModelRetry(Code.RATE_LIMIT, 1, 500)),
        (PROBE, ModelRequest(again, attempt=2)),
        (PROBE, AssistantChunk(JsonText('{"delta":"…"}'), attempt=2)),
        (
            SUBJECT,
            AssistantMessage(
                content=(TextPart(text="let me look"), ImagePart(digest="sha256:1", media_type="image/png")),
                reasoning="hm",
                tool_calls=emitted,
                finish_reason=FinishReason.TOOL_CALLS,
                raw_finish_reason="tool_calls",
                model="m-1",
                fingerprint="fp",
                usage=usage,
                attempt=2,
                extra=JsonText('{"response_items":[{"id":"rs_1","summary":[],"type":"reasoning"}]}'),
            ),
        ),
        (SUBJECT, ToolCall(CallId("call_1"), "get_weather", '{"city": "北京"}')),
        (SUBJECT, ApprovalAsked(CallId("call_1"))),
        (SUBJECT, ApprovalAnswered(CallId("call_1"), ApprovalOutcome.ALLOWED, "user")),
        (PROBE, ToolStart(CallId("call_1"), "get_weather", JsonText('{"city":"北京"}'))),
        (PROBE, ToolEnd(18, ToolOutcome.OK, digest=text_digest('{"rain":true}'))),
        (PROBE, ToolStart(None, "note", JsonText("{}"), attempt=2, instead_of="get_weather", within=18)),
        (PROBE, ToolEnd(20, ToolOutcome.CANCELLED, Code.ABORTED)),
        (SUBJECT, ToolResult(CallId("call_1"), "get_weather", '{"rain":true}')),
        (SUBJECT, ToolResult(CallId("1.1.1"), "", "", True, Code.INVALID_ARGS, "cut off", True)),
        (SUBJECT, StepEnd()),
    ]


def _second_step() -> list[tuple[Origin, Fact]]:
    *_, grown, window = _requests()
    unknown = '{"type":"later/kind", "seq":31,"time":31,"origin":"probe","turn":1,"step":2,"ignorable":true,"x":[1.50,"\\u5317"]}'
    return [
        (SUBJECT, StepStart()),
        (PROBE, ModelRequest(grown)),
        (SUBJECT, AssistantMessage(content="take", refusal="no", finish_reason=FinishReason.REFUSAL, interrupted=True)),
        (SUBJECT, ContextReplaced(6, 6, ChatUser(content=(OtherPart(json=JsonText('{"type":"video"}')),)))),
        (PROBE, ModelRequest(window)),
        (SUBJECT, Note("thought", JsonText("[1,2]"))),
        (PROBE, UnknownFact("later/kind", JsonText(unknown))),
        (PROBE, ModelRequest(Messages.of([ASK, ASK]))),
        (PROBE, CancelRequested(CancelBy.USER, CancelScope.RUN, QueueDisposition.DROP, "enough")),
        (PROBE, CancelDelivered(CancelBy.USER, CancelScope.TURN, QueueDisposition.KEEP)),
        (SUBJECT, StepEnd()),
    ]


def _endings() -> list[tuple[Origin, Fact]]:
    return [
        (SUBJECT, TurnEnd(Status.COMPLETED, FinalAnswer())),
        (SUBJECT, TurnEnd(Status.COMPLETED, Concluded())),
        (SUBJECT, TurnEnd(Status.INCOMPLETE, OutOfTokens())),
        (SUBJECT, TurnEnd(Status.INCOMPLETE, ContentFiltered())),
        (IMPORT, TurnEnd(Status.INCOMPLETE, Interrupted())),
        (SUBJECT, TurnEnd(Status.LIMIT_REACHED, LimitHit(LimitKind.STEPS, 3))),
        (SUBJECT, TurnEnd(Status.WAITING_FOR_USER, Waiting())),
        (SUBJECT, TurnEnd(Status.WAITING_FOR_USER, Waiting(CallId("call_1")))),
        (SUBJECT, TurnEnd(Status.BLOCKED, Blocked("not now"))),
        (SUBJECT, TurnEnd(Status.FAILED, Failed(Code.SERVER, "boom"))),
        (SUBJECT, RunEnd(Status.CANCELLED, Cancelled(CancelBy.USER))),
        (PROBE, RunQuiescent((Alive("tool", "note", 20), Alive("task", "loop")), 1000)),
    ]


def _placed(seq: int, origin: Origin, fact: Fact) -> Event:
    if isinstance(fact, RunStart | RunEnd | RunQuiescent | InboxQueued):
        return Event(seq, fact, origin, time=seq)
    if isinstance(fact, ModelRequest) and len(fact.messages) == 2:
        return Event(seq, fact, origin, time=seq, agent="call_1/1.1.1", turn=1, step=2)
    if isinstance(fact, TurnEnd):
        return Event(seq, fact, origin, turn=1)
    return Event(seq, fact, origin, time=seq, turn=1, step=1 if seq < 25 else 2)


def every_kind() -> Trajectory:
    """The whole trajectory."""
    facts = [*_input(), *_first_step(), *_second_step(), *_endings()]
    return Trajectory(HEADER, tuple(_placed(seq, origin, fact) for seq, (origin, fact) in enumerate(facts)))
