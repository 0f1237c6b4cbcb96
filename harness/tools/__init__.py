"""Tools: the registry, the door they run behind, stubs, and the tools that scenarios can name."""

from harness.tools.agents import AgentTool, with_agents
from harness.tools.build import FACTORIES, build_tools, memory_of, registry_from
from harness.tools.content import Output, conclude, content_of, nothing, with_context
from harness.tools.door import Door
from harness.tools.effects import EffectLedger
from harness.tools.lengths import Shorten
from harness.tools.policy import check_policy
from harness.tools.recorded import RecordedBody, RecordedTool
from harness.tools.registry import FunctionTool, Registry, offered_tool, tool

__all__ = [
    "FACTORIES",
    "AgentTool",
    "Door",
    "EffectLedger",
    "FunctionTool",
    "Output",
    "RecordedBody",
    "RecordedTool",
    "Registry",
    "Shorten",
    "build_tools",
    "check_policy",
    "conclude",
    "content_of",
    "memory_of",
    "nothing",
    "offered_tool",
    "registry_from",
    "tool",
    "with_agents",
    "with_context",
]
