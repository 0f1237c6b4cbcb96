"""Pure folds over a trajectory: messages, requests, counts, status, committed view, summary."""

from harness.folds.answers import CallIds, committed
from harness.folds.boundaries import Places, boundaries_of, event_at, place_text, when_text
from harness.folds.budget import Budget
from harness.folds.causes import CAUSE_WORDS, cause_text, parting_line, row_name, run_name, where_text
from harness.folds.circles import value_key
from harness.folds.counts import (
    CallTrace,
    RequestTrace,
    answer_of,
    boundary_text,
    calls_of,
    end_of,
    is_interrupted,
    last_closed_boundary,
    n_messages,
    n_requests,
    n_steps,
    n_turns,
    reason_text,
    requests_of,
    status_of,
    text_of,
)
from harness.folds.exchanges import Exchange, answered_call, exchanges_of, given_id, tool_names
from harness.folds.history import MESSAGE_FACTS, History, history_of, sent_ids
from harness.folds.lanes import in_call_order
from harness.folds.lineage import (
    closed_boundaries,
    owes_an_answer,
    parked_at,
    pending_input,
    prefix_digest,
    requests_used,
)
from harness.folds.plain import (
    expectations_from_json,
    expectations_to_json,
    from_plain,
    limits_from_json,
    limits_to_json,
    to_plain,
)
from harness.folds.repair import REPAIR_CODES, repair, repaired
from harness.folds.replacing import (
    Node,
    balance_error,
    cut_of,
    fold_sentence,
    replacement_error,
    transcript_text,
    windowed,
)
from harness.folds.sizes import RequestSize, RequestSizes, estimated_tokens, header_tokens, request_sizes
from harness.folds.state import State, state_text
from harness.folds.statuses import status_for
from harness.folds.summary import (
    EXIT_CODES,
    known_sum,
    outcome_of,
    real_time_of,
    summarise,
    tokens_of,
    worst_outcome,
)
from harness.folds.unasked import unasked
from harness.folds.usages import told_usages
from harness.folds.view import Viewed, committed_view

__all__ = [
    "CAUSE_WORDS",
    "EXIT_CODES",
    "MESSAGE_FACTS",
    "REPAIR_CODES",
    "Budget",
    "CallIds",
    "CallTrace",
    "Exchange",
    "History",
    "Node",
    "Places",
    "RequestSize",
    "RequestSizes",
    "RequestTrace",
    "State",
    "Viewed",
    "answer_of",
    "answered_call",
    "balance_error",
    "boundaries_of",
    "boundary_text",
    "calls_of",
    "cause_text",
    "closed_boundaries",
    "committed",
    "committed_view",
    "cut_of",
    "end_of",
    "estimated_tokens",
    "event_at",
    "exchanges_of",
    "expectations_from_json",
    "expectations_to_json",
    "fold_sentence",
    "from_plain",
    "given_id",
    "header_tokens",
    "history_of",
    "in_call_order",
    "is_interrupted",
    "known_sum",
    "last_closed_boundary",
    "limits_from_json",
    "limits_to_json",
    "n_messages",
    "n_requests",
    "n_steps",
    "n_turns",
    "outcome_of",
    "owes_an_answer",
    "parked_at",
    "parting_line",
    "pending_input",
    "place_text",
    "prefix_digest",
    "real_time_of",
    "reason_text",
    "repair",
    "repaired",
    "replacement_error",
    "request_sizes",
    "requests_of",
    "requests_used",
    "row_name",
    "run_name",
    "sent_ids",
    "state_text",
    "status_for",
    "status_of",
    "summarise",
    "text_of",
    "to_plain",
    "tokens_of",
    "told_usages",
    "tool_names",
    "transcript_text",
    "unasked",
    "value_key",
    "when_text",
    "where_text",
    "windowed",
    "worst_outcome",
]
