"""The Responses dialect, whole and streamed answers, on one page. Pure; nothing here knows a network."""

from __future__ import annotations

from harness.wire.responses_body import render_response
from harness.wire.responses_events import render_response_events
from harness.wire.responses_items import KEPT_ITEMS, parse_response
from harness.wire.responses_requests import input_items, render_response_request, response_parameters
from harness.wire.responses_stream import ResponsesStream

__all__ = [
    "KEPT_ITEMS",
    "ResponsesStream",
    "input_items",
    "parse_response",
    "render_response",
    "render_response_events",
    "render_response_request",
    "response_parameters",
]
