"""Every oddity of real answers: read by a declared rule that says so, or refused as damage. One row, one oddity.

The rows name the recordings of other products that hold it (FORMATS.md section 3 of the real data).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from harness.errors import ModelError
from harness.models import model_over
from harness.models.rules import CALLS_COUNT, NO_ARGUMENTS, NO_ID, NO_REASONS
from harness.models.strict import damage_of
from harness.types.codes import FinishReason
from harness.types.doors import Answer
from harness.types.model_spec import ModelApi
from harness.wire.completions import EMPTY_LEGACY, FILTERED_AWAY, LEGACY_CALL
from harness.wire.responses_items import ODD_STATUS, OWN_ITEM
from tests.models.bodies import Pieces, ask, recorded, spec
from tests.models.support import call

NO = "refused"
LATE = "what came behind the finish reason was ignored"


@dataclass(frozen=True)
class Row:
    """One recording: its answer's finish reason, number of calls and notes, or the code it is refused with."""

    file: str
    number: int
    finish: FinishReason | str | None
    n_calls: int = 0
    notes: tuple[str, ...] = ()
    code: str = ""
    api: ModelApi = ModelApi.CHAT
    host: str | None = None


R = ModelApi.RESPONSES
ROWS = {
    # finish reasons
    "calls under stop, where a named tool was forced": Row("crewai/test_using_memory", 3, FinishReason.STOP, 1, (CALLS_COUNT,)),
    "calls under an empty reason at Snowflake": Row("pydantic-ai/test_snowflake/test_snowflake_tool_calling", 0, None, 1, (NO_REASONS,)),
    "an empty reason at Snowflake": Row("pydantic-ai/test_snowflake/test_snowflake_model_simple", 0, None, 0, (EMPTY_LEGACY, NO_REASONS)),
    "an empty reason from anybody else": Row("pydantic-ai/test_snowflake/test_snowflake_model_simple", 0, NO, code="NO_FINISH_REASON", host="elsewhere.example"),
    "eos at Together": Row("openllmetry/together/test_chat/test_together_chat_legacy", 0, FinishReason.STOP, 0, ("the finish reason 'eos' was taken as 'stop'",)),
    "a reason that is null": Row("crewai/test_deepseek_r1_with_open_router", 0, NO, code="NO_FINISH_REASON"),
    "the legacy function_call": Row("openllmetry/langchain/test_llms/test_openai_functions", 0, FinishReason.TOOL_CALLS, 1, (LEGACY_CALL, "the finish reason 'function_call' was taken as 'tool-calls'", NO_ID)),
    "content_filter": Row("openllmetry/openai/test_azure/test_chat_content_filtering", 0, FinishReason.CONTENT_FILTER, 0, (FILTERED_AWAY,)),
    "length with empty content": Row("mirascope/test_max_tokens/openai_gpt_5_mini_completions/sync", 0, FinishReason.LENGTH),
    "length with empty content, streamed": Row("mirascope/test_max_tokens/openai_gpt_5_mini_completions/stream", 0, FinishReason.LENGTH),
    # arguments and ids
    "empty arguments, streamed": Row("llm/test_tools_streaming/test_tools_streaming_variant_d", 0, FinishReason.TOOL_CALLS, 1, (NO_ARGUMENTS,)),
    "arguments that are null": Row("pydantic-ai/test_openrouter/test_openrouter_tool_optional_parameters", 0, FinishReason.TOOL_CALLS, 1, (NO_ARGUMENTS,)),
    "an empty id": Row("pydantic-ai/test_openai/test_compatible_api_with_tool_calls_without_id", 0, FinishReason.TOOL_CALLS, 1, (NO_ID,)),
    # streams
    "a last chunk without choices and with usage": Row("openllmetry/openai/test_streaming_with_api_usage/test_streaming_with_api_usage_capture", 0, FinishReason.STOP),
    "comments that keep the connection": Row("pydantic-ai/test_openrouter/test_openrouter_web_search_annotations_stream", 0, FinishReason.STOP, 0, (LATE,)),
    "an error object, then neither reason nor end (Groq)": Row("pydantic-ai/test_groq/test_tool_use_failed_error_streaming_with_text", 0, NO, code="INVALID_REQUEST"),
    "length twice, then an error (OpenRouter)": Row("pydantic-ai/test_openrouter/test_openrouter_stream_error", 0, NO, code="INVALID_REQUEST"),
    "the finish reason in two chunks": Row("pydantic-ai/test_openrouter/test_openrouter_web_search_tool_usage_stream", 0, FinishReason.STOP, 0, (LATE,)),
    "calls and no finish reason": Row("llm/test_tools_streaming/test_tools_streaming_variant_b", 0, NO, code="NO_FINISH_REASON"),
    "Snowflake's streams end without one": Row("pydantic-ai/test_snowflake/test_snowflake_model_streaming", 0, None, 0, (NO_REASONS,)),
    "two choices interleaved": Row("otel/test_chat_completion_multiple_choices_streaming", 0, FinishReason.STOP, 0, ("of several streamed choices the first was taken",)),
    "two choices whole": Row("otel/test_chat_completion_multiple_choices", 0, FinishReason.STOP, 0, ("the first of 2 choices was taken",)),
    "two calls at once, streamed": Row("otel/test_async_chat_completion_multiple_tools_streaming_no_content", 0, FinishReason.TOOL_CALLS, 2),
    "reasoning under another name, streamed": Row("pydantic-ai/test_groq/test_tool_use_failed_error_streaming_with_text", 1, FinishReason.TOOL_CALLS, 1, ("reasoning came in the field 'reasoning'",)),
    "reasoning_content, streamed": Row("pydantic-ai/test_deepseek/test_deepseek_model_thinking_stream", 0, FinishReason.STOP),
    "reasoning under another name": Row("pydantic-ai/test_ollama/test_ollama_cloud_tool_output", 0, FinishReason.STOP, 0, ("reasoning came in the field 'reasoning'",)),
    "a refusal, streamed": Row("mirascope/test_refusal/openai_gpt_4o_completions/async_stream", 0, FinishReason.STOP),
    # failures
    "400 of a tool that was not used (Groq)": Row("pydantic-ai/test_groq/test_tool_use_failed_error_with_text", 0, NO, code="INVALID_REQUEST"),
    "401": Row("crewai/agents/test_agent_with_knowledge_with_no_crewai_knowledge", 0, NO, code="AUTH"),
    "404 for a model": Row("otel/test_chat_completion_404", 0, NO, code="INVALID_REQUEST"),
    "429": Row("pydantic-ai/test_openrouter/test_openrouter_errors_raised", 2, NO, code="RATE_LIMIT"),
    "a 200 that is plain text": Row("pydantic-ai/test_openai/test_text_response", 0, NO, code="DAMAGED_RESPONSE"),
    # Responses
    "a response with reasoning and a call, streamed": Row("pydantic-ai/test_deepseek_responses/test_deepseek_responses[function_tool_stream]", 0, FinishReason.TOOL_CALLS, 1, api=R),
    "incomplete by max_output_tokens": Row("mirascope/test_max_tokens/openai_gpt_4o_responses/sync", 0, FinishReason.LENGTH, api=R),
    "the status complete": Row("pydantic-ai/test_openai_responses/test_openai_responses_verbosity", 0, FinishReason.STOP, 0, (ODD_STATUS,), api=R),
    "a response that is queued": Row("pydantic-ai/test_openai_responses/test_background_mode_streaming_without_starting_after_vcr", 0, NO, code="DAMAGED_RESPONSE", api=R),
    "400 of the Responses API": Row("pydantic-ai/test_openai_responses/test_openai_responses_model_http_error", 0, NO, code="INVALID_REQUEST", api=R),
    "five calls between reasoning": Row("llm/test_openai_responses/test_responses_interleaved_reasoning_between_tool_calls", 3, FinishReason.TOOL_CALLS, 5, api=R),
}  # fmt: skip


def status_of(folder: Path, row: Row) -> int:
    import yaml

    from tests.models.bodies import LOADER

    one = yaml.load((folder / f"{row.file}.yaml").read_bytes(), LOADER)["interactions"][row.number]
    return int(one["response"]["status"]["code"])


def read(folder: Path, row: Row) -> Answer:
    """What the adapter makes of it, in pieces of seven bytes. Raises ModelError where it is refused."""
    body, headers, host = recorded(folder, row.file, row.number)
    kind = headers.get("content-type", "")
    status = status_of(folder, row)
    pieces = [body[at : at + 7] for at in range(0, len(body), 7)]
    handler = lambda _: httpx2.Response(status, headers={"content-type": kind}, stream=Pieces(pieces))  # noqa: E731
    model = model_over(httpx2.MockTransport(handler), spec(row.api, stream="event-stream" in kind), host=row.host or host)
    answer, _ = ask(model, call())
    damage = damage_of(answer)
    if damage is not None:
        raise damage
    return answer


@pytest.mark.conformance("98", "142", "145")
@pytest.mark.parametrize("name", ROWS)
def test_an_oddity_is_normalised_by_a_rule_that_says_so_or_refused(name: str, shared: Path) -> None:
    row = ROWS[name]
    folder = shared / "data" / "cassettes"
    if row.finish == NO:
        with pytest.raises(ModelError) as caught:
            read(folder, row)
        assert caught.value.code == row.code, str(caught.value)
        return
    answer = read(folder, row)
    assert (answer.finish_reason, len(answer.calls), answer.notes) == (row.finish, row.n_calls, row.notes)


# ---------------------------------------------------------------- the same without the real data


def chat(message: dict[str, Any], reason: Any = "stop") -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}]}


def made(body: Any, host: str = "", api: ModelApi = ModelApi.CHAT) -> Answer:
    handler = lambda _: httpx2.Response(200, json=body)  # noqa: E731
    return ask(model_over(httpx2.MockTransport(handler), spec(api, stream=False), host=host))[0]


CALL = {"id": "c1", "type": "function", "function": {"name": "go", "arguments": "{}"}}
OWN = {"status": "completed", "output": [{"type": "web_search_call", "id": "ws", "status": "completed"}, {"type": "message", "content": [{"type": "output_text", "text": "hi"}]}]}


@pytest.mark.parametrize(
    ("body", "host", "api", "note"),
    [
        pytest.param(chat({"content": "x"}, "eos"), "api.together.xyz", ModelApi.CHAT, "the finish reason 'eos' was taken as 'stop'", id="eos"),
        pytest.param(chat({"tool_calls": [CALL]}), "", ModelApi.CHAT, CALLS_COUNT, id="calls-under-stop"),
        pytest.param(chat({"tool_calls": [CALL]}, "other"), "", ModelApi.CHAT, "the finish reason is no documented one: whether there are calls decides", id="unknown-reason"),
        pytest.param(chat({"tool_calls": [CALL, CALL]}, "tool_calls"), "", ModelApi.CHAT, "two calls of one answer came with one id: the later one goes back under one of the harness", id="one-id-for-two"),
        pytest.param(chat({"tool_calls": [{**CALL, "id": ""}]}, "tool_calls"), "", ModelApi.CHAT, NO_ID, id="empty-id"),
        pytest.param(chat({"tool_calls": [{**CALL, "function": {"name": "go", "arguments": None}}]}, "tool_calls"), "", ModelApi.CHAT, NO_ARGUMENTS, id="null-arguments"),
        pytest.param(chat({"content": "4", "function_call": {"arguments": "", "name": ""}}, ""), "a.snowflakecomputing.com", ModelApi.CHAT, NO_REASONS, id="no-reason"),
        pytest.param(chat({"content": "4", "thinking": "hm"}), "", ModelApi.CHAT, "reasoning came in the field 'thinking'", id="thinking"),
        pytest.param(OWN, "", R, OWN_ITEM, id="an-item-of-the-providers-own"),
    ],
)  # fmt: skip
def test_a_rule_that_decided_something_says_so(body: Any, host: str, api: ModelApi, note: str) -> None:
    answer = made(body, host, api)
    assert note in answer.notes
    assert damage_of(answer) is None


def test_a_plain_answer_needs_no_rule() -> None:
    assert made(chat({"content": "x"})).notes == ()
    assert made(chat({"tool_calls": [CALL]}, "tool_calls")).notes == ()
