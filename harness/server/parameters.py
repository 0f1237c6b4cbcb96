"""Parameters that the real APIs answer with 400, the same way in both dialects: each with its place and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from harness.wire.shape import kind_of

Wrong: TypeAlias = tuple[str, str]
"""What is wrong, and the place."""
_RANGES: Final = {
    "temperature": (0, 2),
    "top_p": (0, 1),
    "presence_penalty": (-2, 2),
    "frequency_penalty": (-2, 2),
}


def wrong_parameters(body: Mapping[str, Any]) -> Iterator[Wrong]:
    """Streaming and sampling: kinds and ranges. null is as good as absence."""
    stream, options = body.get("stream"), body.get("stream_options")
    if stream is not None and not isinstance(stream, bool):
        yield f"expected a boolean, got {kind_of(stream)}", "stream"
    if options is not None and not stream:
        yield "stream_options is only allowed when stream is true", "stream_options"
    elif options is not None and not isinstance(options, Mapping):
        yield f"expected an object, got {kind_of(options)}", "stream_options"
    for name, (least, most) in _RANGES.items():
        value = body.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            yield f"expected a number, got {kind_of(value)}", name
        elif not least <= value <= most:
            yield f"expected {least} to {most}, got {value}", name


def wrong_format(given: Any, where: str, needed: tuple[str, ...]) -> Iterator[Wrong]:
    """The description of a structured answer: ``needed`` are the keys that it cannot do without."""
    if not isinstance(given, Mapping):
        yield "missing required parameter", where
        return
    yield from (("missing required parameter", f"{where}.{key}") for key in needed if given.get(key) is None)
