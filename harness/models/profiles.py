"""What is known of providers: one frozen record each, chosen by name or by the endpoint's host.

A profile says which rules hold between the harness and a provider; whatever a rule changes leaves a note in the run.
What no profile declares is read as documented, or refused as damage.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from harness.errors import UnknownNameError


class Finish(StrEnum):
    """Whether answers say why they ended."""

    ALWAYS = "always"
    NEVER = "never"


class StreamUsage(StrEnum):
    """How usage comes in a stream: only where ``stream_options`` asks for it, or of itself."""

    ASKED = "asked"
    UNASKED = "unasked"


class OutputLimit(StrEnum):
    """The field that limits the output's length: as it was given, or the one that this provider takes."""

    AS_GIVEN = "as given"
    MAX_TOKENS = "max_tokens"
    MAX_COMPLETION_TOKENS = "max_completion_tokens"


class ReasoningBack(StrEnum):
    """What becomes of earlier reasoning in later requests: the field that it goes back in, or left out."""

    REASONING_CONTENT = "reasoning_content"
    REASONING = "reasoning"
    LEFT_OUT = "left out"


class CutResponse(StrEnum):
    """How a response that its token limit cut is known: it says so, or only its usage does."""

    TOLD = "told"
    BY_USAGE = "by usage"


@dataclass(frozen=True, slots=True)
class AdapterProfile:
    """The rules of one provider.

    ``hosts`` are domains: each stands for itself and all below it. ``finish_words`` are finish reasons beyond the
    documented ones, with the documented one that they stand for.
    """

    name: str
    hosts: tuple[str, ...] = ()
    finish: Finish = Finish.ALWAYS
    stream_usage: StreamUsage = StreamUsage.ASKED
    output_limit: OutputLimit = OutputLimit.AS_GIVEN
    reasoning_back: ReasoningBack = ReasoningBack.REASONING_CONTENT
    finish_words: tuple[tuple[str, str], ...] = ()
    cut_response: CutResponse = CutResponse.TOLD


COMPATIBLE: Final = AdapterProfile("compatible", cut_response=CutResponse.BY_USAGE)
"""The rules for an endpoint of which nothing is known."""

PROFILES: Final = {
    profile.name: profile
    for profile in (
        COMPATIBLE,
        AdapterProfile(
            "openai",
            ("api.openai.com", "openai.azure.com"),
            output_limit=OutputLimit.MAX_COMPLETION_TOKENS,
            reasoning_back=ReasoningBack.LEFT_OUT,
            finish_words=(("function_call", "tool_calls"),),
        ),
        AdapterProfile("deepseek", ("api.deepseek.com",), output_limit=OutputLimit.MAX_TOKENS),
        AdapterProfile("vllm", reasoning_back=ReasoningBack.REASONING),
        AdapterProfile("ollama", output_limit=OutputLimit.MAX_TOKENS, reasoning_back=ReasoningBack.REASONING),
        AdapterProfile("llama.cpp", output_limit=OutputLimit.MAX_TOKENS, cut_response=CutResponse.BY_USAGE),
        AdapterProfile(
            "openrouter",
            ("openrouter.ai",),
            stream_usage=StreamUsage.UNASKED,
            reasoning_back=ReasoningBack.REASONING,
        ),
        AdapterProfile(
            "groq",
            ("api.groq.com",),
            output_limit=OutputLimit.MAX_COMPLETION_TOKENS,
            reasoning_back=ReasoningBack.LEFT_OUT,
        ),
        AdapterProfile(
            "together",
            ("api.together.xyz", "api.together.ai"),
            output_limit=OutputLimit.MAX_TOKENS,
            reasoning_back=ReasoningBack.LEFT_OUT,
            finish_words=(("eos", "stop"),),
        ),
        AdapterProfile(
            "snowflake",
            ("snowflakecomputing.com",),
            finish=Finish.NEVER,
            output_limit=OutputLimit.MAX_COMPLETION_TOKENS,
            reasoning_back=ReasoningBack.LEFT_OUT,
        ),
    )
}


def profile_of_host(host: str) -> AdapterProfile:
    """The profile of the provider at that host; COMPATIBLE where none is known."""
    for profile in PROFILES.values():
        if any(host == known or host.endswith("." + known) for known in profile.hosts):
            return profile
    return COMPATIBLE


def profile_named(name: str) -> AdapterProfile:
    """The profile of that name. Raises UnknownNameError with the names there are."""
    if name not in PROFILES:
        raise UnknownNameError(f"no adapter profile is named {name!r}; there are {', '.join(sorted(PROFILES))}")
    return PROFILES[name]
