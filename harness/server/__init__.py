"""An OpenAI-compatible server inside the process, for loops that bring their own client."""

from __future__ import annotations

from harness.server.patience import Patience
from harness.server.transport import ChatTransport
from harness.server.validation import refusal_of
from harness.server.witness import Witness

__all__ = ["ChatTransport", "Patience", "Witness", "refusal_of"]
