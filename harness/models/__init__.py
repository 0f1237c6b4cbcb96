"""What answers a model request: scripts, recorded runs, and any OpenAI-compatible endpoint; and the recording door.

``openai`` is loaded only where one of its names is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from harness.models.door import RecordingDoor
from harness.models.replayed import ReplayModel
from harness.models.scripted import ScriptedModel

if TYPE_CHECKING:
    from harness.models.openai_chat import OpenAIChatModel, chat_model_from_env, chat_model_over, in_process_client

__all__ = [
    "OpenAIChatModel",
    "RecordingDoor",
    "ReplayModel",
    "ScriptedModel",
    "chat_model_from_env",
    "chat_model_over",
    "in_process_client",
]

_HEAVY: Final = frozenset({"OpenAIChatModel", "chat_model_from_env", "chat_model_over", "in_process_client"})


def __getattr__(name: str) -> Any:
    if name not in _HEAVY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from harness.models import openai_chat

    return getattr(openai_chat, name)
