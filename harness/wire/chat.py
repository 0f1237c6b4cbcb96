"""The Chat Completions dialect, whole and streamed answers, on one page. Pure; nothing here knows a network."""

from __future__ import annotations

from harness.wire.chunk_render import render_chunks
from harness.wire.chunks import ChunkAssembler, assembled, unanswered_chunks, visible_prefix
from harness.wire.completions import finish_reason, parse_completion, render_completion
from harness.wire.content import visible_text
from harness.wire.failures import error_body, parse_error, render_error
from harness.wire.messages import message_from_wire, message_to_wire
from harness.wire.requests import ChatRequest, call_of, parse_request, render_request, with_parameters
from harness.wire.tools import parse_tools, render_tools

__all__ = [
    "ChatRequest",
    "ChunkAssembler",
    "assembled",
    "call_of",
    "error_body",
    "finish_reason",
    "message_from_wire",
    "message_to_wire",
    "parse_completion",
    "parse_error",
    "parse_request",
    "parse_tools",
    "render_chunks",
    "render_completion",
    "render_error",
    "render_request",
    "render_tools",
    "unanswered_chunks",
    "visible_prefix",
    "visible_text",
    "with_parameters",
]
