"""Which model is asked in a role, through which API, and how."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from harness.types.messages import JsonText

NO_PARAMETERS: Final = JsonText("{}")


class ModelApi(StrEnum):
    """The dialect that an endpoint is spoken to in."""

    CHAT = "chat"
    RESPONSES = "responses"


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """The model of a role where it is not scripted.

    ``parameters`` is JSON text of an object. ``stream``: answers are asked for in pieces. ``profile`` names the
    rules of its provider; None: they are chosen by the endpoint's host. ``timing``: a recording is replayed at the
    pace at which it came, on the run's clock.
    """

    name: str
    parameters: JsonText = NO_PARAMETERS
    api: ModelApi = ModelApi.CHAT
    stream: bool = False
    profile: str | None = None
    timing: bool = False
