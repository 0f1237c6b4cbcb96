"""Portable file names for ids that look like anything (cases PB-049)."""

from __future__ import annotations

import hashlib

_BAD = frozenset('<>:"\\|?*%')
_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", *(f"com{n}" for n in range(1, 10)), *(f"lpt{n}" for n in range(1, 10))]
)
_LONGEST_BYTES = 180


def portable_path(identity: str) -> str:
    """A relative path for an id: same id, same path; two ids never share one; never climbs out.

    ``/`` separates folders. Characters that some file system refuses are written ``%XX`` (bytes of
    their UTF-8), an empty segment ``%``; a very long segment is cut and ends in a hash.
    """
    return "/".join(_segment(part) for part in identity.split("/"))


def _segment(part: str) -> str:
    if not part:
        return "%"
    name = "".join(_escaped(char) if _is_refused(char) else char for char in part)
    if set(part) == {"."} or part[-1] in ". ":
        name = name[:-1] + _escaped(part[-1])
    if part[0] == " " and name[0] == " ":
        name = _escaped(part[0]) + name[1:]
    if name.split(".")[0].lower() in _RESERVED:
        name = _escaped(name[0]) + name[1:]
    encoded = name.encode("utf-8")
    if len(encoded) <= _LONGEST_BYTES:
        return name
    digest = hashlib.sha256(part.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return encoded[: _LONGEST_BYTES - 20].decode("utf-8", "ignore").rstrip(". ") + "%~" + digest


def _is_refused(char: str) -> bool:
    return char in _BAD or ord(char) < 32 or ord(char) == 127 or "\ud800" <= char <= "\udfff"


def _escaped(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))
