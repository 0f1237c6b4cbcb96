"""What is known of providers that differ from the documented dialect."""

from __future__ import annotations

from typing import Final

NO_FINISH_REASON_HOSTS: Final = ("snowflakecomputing.com",)
"""Hosts whose answers never say why they ended (CONFORMANCE 98): the domain and all below it."""


def sends_no_finish_reason(host: str) -> bool:
    """True for a provider that is known never to send a finish reason."""
    return any(host == known or host.endswith("." + known) for known in NO_FINISH_REASON_HOSTS)
