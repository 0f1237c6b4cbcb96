"""Every check takes the good trajectories and refuses the mutants that are its business."""

import pytest

from harness.checks import CHECKS, INFORMATION, judge
from harness.mutants import LEGAL, MUTANTS, kill_table, kills, originals
from harness.types.codes import Outcome

ORIGINALS = originals()
KILLS = {(kill.mutant, kill.original): kill.checks for kill in kills()}

REFUSES = {
    "event_grammar": (
        "seq_gap", "lost_run_end", "second_run_end", "event_after_quiescent", "missing_step_end", "missing_turn_end",
        "step_number_skipped", "start_without_call", "start_before_answer", "start_before_calls", "tool_ends_twice",
        "body_starts_twice", "swap_results", "result_before_body_ends", "time_goes_back", "foreign_origin",
        "lost_run_start", "lost_last_line", "request_outside_step", "call_not_told", "answer_without_request",
        "turns_counted_anew", "settled_call_runs_again",
        "attempt_not_counted", "attempt_skipped", "retry_not_told", "retried_without_failure", "retried_too_soon",
        "retry_of_another_code", "retry_told_twice",
    ),
    "pairing": (
        "drop_result", "double_result", "result_under_wrong_id", "result_in_next_step", "result_before_call", "extra_call",
        "repair_doubles_a_result",
        "parked_before_its_turn",
    ),
    "children": (
        "child_outlives_its_call", "child_of_no_call", "child_says_user_cancelled", "child_never_ends",
        "child_before_its_body", "child_answers_swapped", "child_limit_told_as_answer", "child_not_reached",
    ),
    "provenance": ("claim_from_nowhere", "claim_is_part_of_a_value", "argument_from_nowhere", "evidence_failed"),
    "effects": (
        "effect_twice", "effect_unwritten", "effects_too_many", "effect_asked_again", "effect_by_bodies",
    ),
    "provider_history": (
        "result_missing_in_request", "result_twice_in_request", "results_swapped_in_request", "result_apart_in_request",
        "empty_id_in_request", "renamed_id_in_request",
    ),
    "reused_ids": ("wire_id_reused", "wire_id_twice", "wire_id_empty"),
    "steps_and_limits": (
        "limit_off_by_one", "request_at_limit", "limit_told_wrong", "limit_told_early", "child_asks_past_its_limit",
    ),
    "budgets": (
        "one_body_too_many", "skipped_body_runs", "calls_told_early", "calls_told_wrong", "tokens_overrun",
        "tokens_overrun_by_usage", "tokens_told_early", "tokens_told_wrong", "cost_overrun", "cost_by_dearer_prices",
        "cost_told_early", "context_over", "context_over_at_once", "context_over_as_reported", "repeats_go_on",
        "repeats_asked_again", "same_result_goes_on", "repeats_told_wrong", "child_over_its_context",
    ),
    "termination": (
        "completed_on_limit", "completed_on_calls", "completed_without_answer", "completed_on_cut_answer",
        "completed_without_finish", "cut_call_runs", "cancelled_by_nobody", "failed_without_words", "run_differs_from_turn",
    ),
    "cancel_no_tool_start": ("body_after_cancel", "sibling_after_cancel", "body_in_new_turn_after_cancel"),
    "cancel_no_model_request": (
        "request_after_cancel", "request_in_cleanup", "step_goes_on_after_cancel", "child_asks_after_parents_cancel",
    ),
    "cancel_no_input_consumed": (
        "input_claimed_after_cancel", "input_enters_after_cancel", "kept_queue_dropped", "queue_vanishes",
    ),
    "inbox": (
        "steered_into_the_batch", "queue_jumped", "input_stranded", "input_queued_twice", "input_claimed_twice",
        "ghost_claimed", "claimed_and_lost", "entered_twice",
    ),
    "lineage": (
        "settled_call_runs_again", "past_changed", "goes_on_inside_a_turn", "past_cut_short", "live_run_says_unknown",
        "parked_call_runs_unanswered", "begun_call_called_not_started", "waiting_call_called_unknown",
    ),
    "approval": (
        "ran_before_the_answer", "ran_though_rejected", "ran_unheard", "answer_to_no_question", "never_answered",
        "unavailable_told_as_rejected", "cancel_told_as_rejection", "allowed_after_cancel", "asked_after_cancel",
        "denied_after_work", "waits_for_another_call", "parked_and_answered",
    ),
    "cancel_settled": (
        "body_never_ends", "cancel_told_as_completed", "cancel_told_as_failed", "cancel_cause_changed",
        "good_result_without_body",
    ),
    "quiescence": ("body_never_ends", "ended_body_named", "left_running", "lost_last_line"),
    "context_closure": (
        "prompt_lost_later",
        "argument_changed_in_history", "name_changed_in_history", "call_lost_in_history", "text_changed_in_history",
        "result_changed_in_history", "result_missing_in_request", "history_rewritten", "input_missing_in_request",
        "renamed_id_in_request",
    ),
    "context_replaced": (
        "cut_inside_a_pair", "replacement_turned", "replacement_of_nothing", "replacement_grows",
        "result_rewritten_under_another_id", "open_input_folded_away",
    ),
    "context_shown": (
        "fold_shown_changed", "fold_not_shown", "folded_and_still_shown", "window_invents", "window_stops_short",
        "window_without_task",
    ),
    "context_overflow": ("overflow_retried_for_nothing", "overflow_replaced_too_late", "overflow_retried_twice"),
    "chunks": (
        "chunk_lost", "finish_lost", "streamed_otherwise", "stream_failed_midway", "chunk_behind_answer",
        "chunk_after_cancel", "prefix_lost", "prefix_too_long", "prefix_with_a_call",
    ),
    "tool_runs": (
        "body_with_other_arguments", "body_starts_twice", "start_without_call", "start_before_answer",
        "takes_over_for_none", "body_within_nothing", "repair_not_told", "result_without_body", "nothing_ran",
    ),
    "result_truth": (
        "results_exchanged", "result_of_another", "result_invented", "result_lost", "result_without_body",
        "frame_in_good_result",
    ),
    "tools_offered": (
        "tools_dropped_later", "tool_not_offered", "private_state_offered", "tools_reordered", "header_lost",
        "description_changed", "child_without_header", "hidden_tool_offered", "visible_tool_missing",
        "header_of_change_lost",
    ),
    "no_host_leak": ("traceback_shown", "host_path_shown", "frame_in_good_result"),
    "expected_end": ("completed_on_limit", "cancel_told_as_failed", "lost_run_end"),
    "expected_counts": ("last_step_lost", "answer_twice", "input_twice", "drop_result"),
    "tool_order": ("forbidden_tool_used", "extra_call", "call_argument_changed", "calls_turned"),
    "result_codes": ("result_code_lost", "result_code_changed", "good_result_turned_error", "drop_result"),
    "answer": ("answer_changed", "answer_emptied", "answer_asks_on"),
    "end_state": ("file_changed", "memory_forgotten", "files_not_noted"),
}  # fmt: skip
ROWS = [pytest.param(check, mutant, id=f"{check}-{mutant}") for check, mutants in REFUSES.items() for mutant in mutants]


@pytest.mark.parametrize("name", ORIGINALS)
def test_a_good_trajectory_is_refused_by_no_check(name):
    verdicts = judge(ORIGINALS[name])
    assert [
        (v.check, v.outcome, v.findings) for v in verdicts if v.outcome not in (Outcome.PASS, Outcome.NOT_APPLICABLE)
    ] == []
    assert [v.findings for v in verdicts if v.findings] == []


@pytest.mark.parametrize("check", CHECKS)
def test_every_check_judges_some_original_and_refuses_at_least_three_named_mutants(check):
    judged = [v for t in ORIGINALS.values() for v in judge(t, names=(check,)) if v.check == check]
    assert Outcome.PASS in {verdict.outcome for verdict in judged}
    assert len(REFUSES[check]) >= 3


@pytest.mark.article("3")
@pytest.mark.conformance(
    "3",
    "4",
    "5",
    "9",
    "28",
    "29",
    "30",
    "31",
    "49",
    "69",
    "70",
    "141",
    "145",
    "63",
    "64",
    "65",
    "67",
    "76",
    "89",
    "90",
    "61",
    "93",
    "94",
    "100",
    "99",
    "154",
    "103",
    "103a",
    "104",
    "115",
    "118",
    "102",
    "151",
    "152",
)
@pytest.mark.parametrize(("check", "mutant"), ROWS)
def test_the_check_refuses_the_mutant(check, mutant):
    made = {original: checks for (name, original), checks in KILLS.items() if name == mutant}
    assert any(check in checks for checks in made.values()), f"{mutant} passes {check} on {sorted(made)}"


@pytest.mark.parametrize("mutant", MUTANTS)
def test_every_mutant_can_be_made_and_is_refused_wherever_it_is_no_legal_trajectory(mutant):
    made = {original: checks for (name, original), checks in KILLS.items() if name == mutant}
    survivors = {original for original, checks in made.items() if not checks}
    assert made
    assert {(mutant, original) for original in survivors} <= set(LEGAL)


def test_each_finding_on_a_mutant_cites_events_of_its_file_and_speaks_for_its_check():
    for original in ORIGINALS.values():
        for mutant in MUTANTS.values():
            broken = mutant.mutate(original)
            if broken is None:
                continue
            numbers = {event.seq for event in broken.events}
            for verdict in judge(broken):
                for finding in verdict.findings:
                    assert finding.check == verdict.check
                    assert set(finding.events) <= numbers
                    assert list(finding.events) == sorted(set(finding.events))
                    assert finding.message


def test_a_mutant_leaves_its_original_untouched():
    fresh = originals()
    for name, original in ORIGINALS.items():
        for mutant in MUTANTS.values():
            mutant.mutate(original)
        assert original == fresh[name]


def test_information_checks_tell_and_never_fail():
    broken = MUTANTS["wire_id_reused"].mutate(ORIGINALS["completed"])
    assert broken is not None
    for name in INFORMATION:
        (verdict, *_) = judge(broken, names=(name,))
        assert (verdict.outcome, len(verdict.findings)) == (Outcome.PASS, 1)


def test_the_table_for_the_docs_lists_every_check_with_what_it_refuses():
    table = kill_table()
    for check, mutants in REFUSES.items():
        (row,) = [line for line in table.splitlines() if line.startswith(f"| `{check}` |")]
        assert all(mutant in row for mutant in mutants)
