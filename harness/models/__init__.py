"""What answers a model request: scripts, recorded runs, and any OpenAI-compatible endpoint; and the recording door.

``openai`` is loaded only where one of its names is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from harness.models.door import RecordingDoor
from harness.models.replayed import ReplayModel
from harness.models.scripted import ScriptedModel

if TYPE_CHECKING:
    from harness.models.clients import in_process_client
    from harness.models.live import LiveModel, live_model, model_over
    from harness.models.openai_chat import OpenAIChatModel, chat_model_from_env, chat_model_over
    from harness.models.openai_responses import OpenAIResponsesModel

__all__ = [
    "LiveModel",
    "OpenAIChatModel",
    "OpenAIResponsesModel",
    "RecordingDoor",
    "ReplayModel",
    "ScriptedModel",
    "chat_model_from_env",
    "chat_model_over",
    "in_process_client",
    "live_model",
    "model_over",
]

_HEAVY: Final = {
    "LiveModel": "live",
    "OpenAIChatModel": "openai_chat",
    "OpenAIResponsesModel": "openai_responses",
    "chat_model_from_env": "openai_chat",
    "chat_model_over": "openai_chat",
    "in_process_client": "clients",
    "live_model": "live",
    "model_over": "live",
}


def __getattr__(name: str) -> Any:
    if name not in _HEAVY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"harness.models.{_HEAVY[name]}"), name)
