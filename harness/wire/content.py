"""Content of a message: text or parts, from and to the Chat Completions dialect."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Final, assert_never

from harness.types.messages import Content, ImagePart, OtherPart, Part, TextPart
from harness.wire.shape import bad_shape, json_text, kind_of

_DIGEST: Final = re.compile(r"sha256:([0-9a-f]{64})")
_DATA_URL: Final = re.compile(r"data:([^;,]*)(;[^,]*)?,(.*)", re.DOTALL)


def content_from_wire(value: Any, where: str) -> Content | None:
    """Text stays text, a list becomes parts, null None. Raises ModelError for anything else."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return tuple(_part_from_wire(part, f"{where}[{index}]") for index, part in enumerate(value))
    return bad_shape(where, f"is {kind_of(value)}, allowed are a string, an array of parts, null")


def content_to_wire(content: Content | None) -> str | list[Any] | None:
    """The inverse, but for images: of those only the digest is left, as a ``sha256:`` URL."""
    if content is None or isinstance(content, str):
        return content
    return [_part_to_wire(part) for part in content]


def visible_text(content: Content | None) -> str:
    """What a reader sees: the text parts joined, without images, thinking and unknown parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "".join(_text_of(part) for part in content)


def has_substance(content: Content | None) -> bool:
    """True for text that is more than blanks, or a part that is no text."""
    if content is None or isinstance(content, str):
        return bool(content and content.strip())
    return any(not isinstance(part, TextPart) or part.text.strip() for part in content)


def _text_of(part: Part) -> str:
    if isinstance(part, TextPart):
        return part.text
    if isinstance(part, ImagePart):
        return ""
    value = json.loads(part.json)
    known = isinstance(value, dict) and value.get("type") in ("text", "output_text")
    return value["text"] if known and isinstance(value.get("text"), str) else ""


def _part_from_wire(value: Any, where: str) -> Part:
    if isinstance(value, Mapping):
        if value.get("type") == "text" and len(value) == 2 and isinstance(value.get("text"), str):
            return TextPart(text=value["text"])
        url = _image_url(value)
        if url is not None:
            return _image(url)
    return OtherPart(json=json_text(value, where))


def _image_url(part: Mapping[str, Any]) -> str | None:
    if part.get("type") not in ("image_url", "input_image"):
        return None
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, Mapping) else image
    return url if isinstance(url, str) else None


def _image(url: str) -> ImagePart:
    own = _DIGEST.fullmatch(url)
    if own:
        return ImagePart(digest=own[1])
    data = _DATA_URL.fullmatch(url)
    if data is None:
        return ImagePart(digest=hashlib.sha256(url.encode("utf-8")).hexdigest())
    return ImagePart(digest=hashlib.sha256(_decoded(data[2] or "", data[3])).hexdigest(), media_type=data[1] or None)


def _decoded(options: str, data: str) -> bytes:
    if not options.endswith(";base64"):
        return data.encode("utf-8")
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return data.encode("utf-8")  # not base64 after all: what was sent is the text itself


def _part_to_wire(part: Part) -> Any:
    match part:
        case TextPart(text=text):
            return {"type": "text", "text": text}
        case ImagePart(digest=digest):
            return {"type": "image_url", "image_url": {"url": f"sha256:{digest}"}}
        case OtherPart(json=text):
            return json.loads(text)
        case _:
            assert_never(part)
