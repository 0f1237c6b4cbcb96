"""What may stand for older messages, what is folded, and what a window shows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.folds import (
    History,
    Node,
    balance_error,
    cut_of,
    estimated_tokens,
    fold_sentence,
    replacement_error,
    windowed,
)
from harness.types.codes import Code, Origin
from harness.types.events import Event
from harness.types.exchange import AssistantMessage, ContextReplaced, ToolResult, UserMessage
from harness.types.lifecycle import StepEnd
from harness.types.messages import CallId, ChatAssistant, ChatCall, ChatTool, ChatUser, Messages
from harness.types.reasons import EmittedCall

LONG = "a long text that is worth replacing by a shorter one " * 3


def node(seq, message, turn=1, sources=()):
    return Node(seq, message, turn, sources)


def asks(*ids):
    return ChatAssistant(None, tool_calls=tuple(ChatCall(i, "look", '{"q": 1}') for i in ids))


# events:  1 user, 4 calls c1 and c2, 7 and 8 their results, 11 an answer, 13 user (unanswered)
NODES = (
    node(1, ChatUser("look")),
    node(4, asks("c1", "c2")),
    node(7, ChatTool("c1", LONG)),
    node(8, ChatTool("c2", LONG)),
    node(11, ChatAssistant("Found.")),
    node(13, ChatUser("and now?"), turn=2),
)
SHORT = ChatUser("Earlier: looked twice.")


@pytest.mark.conformance("124", "125", "127")
@pytest.mark.parametrize(
    ("start", "end", "message", "why"),
    [
        pytest.param(4, 8, SHORT, "", id="calls-with-all-their-results"),
        pytest.param(1, 11, SHORT, "", id="all-that-was-answered"),
        pytest.param(7, 7, ChatTool("c1", "short"), "", id="content-of-one-result"),
        pytest.param(7, 7, ChatTool("c1", LONG * 2), "", id="longer-content-of-one-result"),
        pytest.param(1, 1, ChatUser("look closely"), "", id="one-message-may-grow"),
        pytest.param(2, 8, SHORT, "start 2 is no message", id="start-is-none"),
        pytest.param(4, 9, SHORT, "end 9 is no message", id="end-is-none"),
        pytest.param(8, 4, SHORT, "comes behind", id="turned-around"),
        pytest.param(7, 8, SHORT, "tear", id="results-without-their-calls"),
        pytest.param(4, 7, SHORT, "tear", id="calls-with-one-of-two-results"),
        pytest.param(4, 4, ChatAssistant("Nothing."), "tear", id="calls-without-results"),
        pytest.param(7, 7, SHORT, "by itself alone", id="result-by-input"),
        pytest.param(7, 8, ChatTool("c1", "short"), "by itself alone", id="two-results-by-one"),
        pytest.param(11, 11, ChatTool("c1", "short"), "by itself alone", id="answer-by-result"),
        pytest.param(7, 7, ChatTool("c2", "short"), "only the content", id="result-under-another-id"),
        pytest.param(7, 7, ChatTool("c1", "short", name="look"), "only the content", id="result-with-a-name"),
        pytest.param(4, 8, ChatUser(LONG * 4), "does not shrink", id="grows"),
        pytest.param(11, 13, ChatUser("x"), "no answer has followed", id="open-input"),
    ],
)
def test_a_replacement_is_refused_for_what_it_would_break(start, end, message, why):
    said = replacement_error(NODES, start, end, message)
    assert why in said
    assert bool(said) is bool(why)


@pytest.mark.conformance("127")
def test_a_summary_exactly_as_big_as_what_it_stands_for_is_refused():
    shadowed = sum(estimated_tokens(one.message) for one in NODES[1:4])
    exactly = ChatUser("x" * 4 * (shadowed - 4))
    assert estimated_tokens(exactly) == shadowed
    assert "does not shrink" in replacement_error(NODES, 4, 8, exactly)
    assert replacement_error(NODES, 4, 8, ChatUser("x" * 4 * (shadowed - 5))) == ""


def events(*facts, turn=1):
    return [Event(seq, fact, Origin.SUBJECT, turn=turn) for seq, fact in enumerate(facts)]


def folded(listed):
    history = History()
    for event in listed:
        history.apply(event)
    return history


LOG = (
    UserMessage(ChatUser("0")),
    AssistantMessage("1"),
    UserMessage(ChatUser("2")),
    AssistantMessage("3"),
    UserMessage(ChatUser("4")),
)


@pytest.mark.conformance("122", "124")
def test_a_replacement_that_names_no_message_of_now_changes_nothing():
    before = folded(events(*LOG))
    for start, end in ((7, 7), (3, 1), (1, 9), (-1, 2)):
        after = folded(events(*LOG, ContextReplaced(start, end, ChatUser("x"))))
        assert after.messages == before.messages
        assert after.nodes == before.nodes
    once = folded(events(*LOG, ContextReplaced(0, 1, ChatUser("x"))))
    again = folded(events(*LOG, ContextReplaced(0, 1, ChatUser("x")), ContextReplaced(1, 2, ChatUser("y"))))
    assert again.messages == once.messages  # message 1 is shadowed, so it is no message of now


@pytest.mark.conformance("122", "124")
def test_a_replacement_of_a_replacement_stands_where_that_stood_and_for_all_that_it_stood_for():
    history = folded(
        events(*LOG, ContextReplaced(0, 1, ChatUser("a")), StepEnd(), ContextReplaced(5, 3, ChatUser("b")))
    )
    assert list(history.messages) == [ChatUser("b"), ChatUser("4")]
    assert [(one.seq, one.sources) for one in history.nodes] == [(7, (0, 1, 2, 3)), (4, ())]


@pytest.mark.conformance("120")
def test_what_a_request_was_shown_does_not_change_when_older_messages_are_replaced():
    history = folded(events(*LOG))
    shown = history.messages
    kept = list(shown)
    history.apply(Event(9, ContextReplaced(0, 3, ChatUser("x")), Origin.SUBJECT))
    assert list(shown) == kept
    assert list(history.messages) == [ChatUser("x"), ChatUser("4")]


# ---------------------------------------------------------------- what is cut


@st.composite
def conversations(draw):
    """Balanced conversations of some turns, as nodes."""
    made, turn, seq = [], 0, 0
    for kind in draw(st.lists(st.sampled_from(["user", "answer", "calls"]), min_size=1, max_size=14)):
        turn += kind == "user"
        if kind == "calls":
            ids = [f"c{seq}.{n}" for n in range(draw(st.integers(1, 3)))]
            messages = [asks(*ids), *(ChatTool(i, "r" * draw(st.integers(0, 60))) for i in ids)]
        else:
            messages = [ChatUser("task") if kind == "user" else ChatAssistant("said")]
        for message in messages:
            made.append(node(seq, message, turn))
            seq += 2
    return tuple(made), turn


@pytest.mark.conformance("127")
@given(conversations(), st.integers(0, 8))
def test_a_cut_never_parts_a_call_from_its_results_nor_takes_what_is_to_be_kept(conversation, keep_last):
    nodes, turn = conversation
    cut = cut_of(nodes, keep_last, turn)
    if not cut:
        return
    first, last = nodes.index(cut[0]), nodes.index(cut[-1])
    assert nodes[first : last + 1] == cut
    assert len(cut) > 1
    assert last < len(nodes) - keep_last
    assert not [one for one in cut if isinstance(one.message, ChatUser) and one.turn == turn]
    left = [one.message for one in (*nodes[:first], *nodes[last + 1 :])]
    assert balance_error(left) == ""


@pytest.mark.conformance("127")
def test_nothing_is_cut_where_only_one_message_could_be():
    assert cut_of(NODES[:1], 0, 1) == ()
    assert cut_of((), 0, 1) == ()
    assert cut_of(NODES, 6, 2) == ()
    assert [one.seq for one in cut_of(NODES, 2, 2)] == [1, 4, 7, 8]
    assert [one.seq for one in cut_of(NODES, 3, 2)] == []  # the cut would fall between c1 and its sibling


@pytest.mark.article("33")
def test_the_fold_is_one_sentence_of_what_was_asked_called_and_answered():
    calls = [EmittedCall(CallId(f"c{n}"), "look", "{}") for n in range(3)]
    listed = events(
        UserMessage(ChatUser("look\nthree times")),
        AssistantMessage(None, tool_calls=tuple(calls)),
        ToolResult(CallId("c0"), "look", "x"),
        ToolResult(CallId("c1"), "look", "x", is_error=True, code=Code.TOOL_FAILED),
        ToolResult(CallId("c2"), "note", "", code=Code.EMPTY),
        AssistantMessage("y" * 100),
    )
    said = fold_sentence(listed)
    assert said == (
        "Earlier, folded into one sentence: asked: 'look three times'; called: look 2x (1 ok, 1 TOOL_FAILED),"
        f" note 1x (1 ok); last answer: '{'y' * 59}…'."
    )
    assert fold_sentence(listed) == said
    assert fold_sentence([]) == "Earlier, folded into one sentence: nothing was done."


# ---------------------------------------------------------------- windows


@pytest.mark.conformance("7", "28")
@given(conversations(), st.integers(1, 8))
def test_a_window_is_a_part_in_order_that_a_provider_takes_and_that_knows_its_task(conversation, last):
    messages = Messages.of(one.message for one in conversation[0])
    shown = windowed(messages, last)
    left = iter(messages)
    assert all(any(one is other for other in left) for one in shown)
    assert balance_error(shown) == ""
    assert list(shown)[-min(last, len(messages)) :] == list(messages)[-last:]
    users = [message for message in messages if isinstance(message, ChatUser)]
    assert not users or (users[0] in shown and users[-1] in shown)


@pytest.mark.conformance("7")
def test_a_window_wider_than_the_conversation_shows_it_as_it_is():
    messages = Messages.of(one.message for one in NODES)
    assert windowed(messages, 6) is messages
    assert [one.role for one in windowed(messages, 1)] == ["user", "user"]
    assert [one.role for one in windowed(messages, 3)] == ["user", "assistant", "tool", "tool", "assistant", "user"]
