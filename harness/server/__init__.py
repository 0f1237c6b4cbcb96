"""A scripted OpenAI-compatible server, in process and on loopback, for loops that bring their own client."""

from __future__ import annotations

from harness.server.asking import Ask, Asked, asking
from harness.server.desk import Desk
from harness.server.dialects import HistoryCheck
from harness.server.exchanges import Exchange, Went
from harness.server.patience import Patience
from harness.server.transport import ModelTransport
from harness.server.validation import refusal_of
from harness.server.witness import Witness

__all__ = [
    "Ask",
    "Asked",
    "Desk",
    "Exchange",
    "HistoryCheck",
    "ModelTransport",
    "Patience",
    "Went",
    "Witness",
    "asking",
    "refusal_of",
]
