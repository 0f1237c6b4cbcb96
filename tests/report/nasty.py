"""Texts that a model, a tool or a person may send, and that no report may stumble over."""

from tests.strategies import NASTY as SHARED

NASTY = (
    *SHARED,
    "\ud800 lone \udfff",
    "\x1b[31mred\x1b[0m\x07\x08",
    "\ufffe\uffff\U0001ffff",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    '"><b>bold</b> &amp; &lt;',
    "@everyone #1 org/repo#2 https://example.invalid www.example.invalid",
    "[link](https://example.invalid) ![img](x) <https://example.invalid>",
    "```\ncode\n```",
    "`", "``", "a`", "`a", "  spaced  ", "` ", "\\`",
    "| a | b |\n|---|---|",
    "# heading\n> quote\n- item\n1. item\n---\n***",
    "*a* _b_ ~~c~~ **d** $x$ $$y$$",
    "; end; %%{init: {}}%% %% comment",
    "wrap: nowrap: loop\nend\nparticipant X",
    "#35; #quot; ﬂ°lt¶ß",
    "A->>M: injected\n    Note over A: injected",
    "\u200b\u200e\u2066hidden\u2069",
)  # fmt: skip
