"""Keeps the host and its secrets out of what is written, and finds them where they got in.

Pure: the environment, the roots and the secrets are arguments. The rule of what is masked stands
in :mod:`harness.redaction.host` (paths, tracebacks) and :mod:`harness.redaction.secrets` (keys).
"""

from harness.redaction.host import HostDetails, host_details_in, redact_text
from harness.redaction.pieces import Piece, piece_mask
from harness.redaction.secrets import find_secrets, known_secrets, redact_secrets, secret_mask

__all__ = [
    "HostDetails",
    "Piece",
    "find_secrets",
    "host_details_in",
    "known_secrets",
    "piece_mask",
    "redact_secrets",
    "redact_text",
    "secret_mask",
]
