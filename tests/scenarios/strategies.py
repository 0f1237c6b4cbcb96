"""Documents of the format, generated: every field and form that the loader takes."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from harness.scenarios.chunk_fields import BREAKS
from harness.scenarios.expect_fields import REASONS, RESULTS, STATUSES
from harness.scenarios.fault_fields import WIRE_FAILURES
from harness.scenarios.inject_fields import FAULT_PLACES, KINDS
from harness.scenarios.script_fields import FAILURES
from harness.scenarios.tool_fields import TOOL_CODES
from harness.types.policy import Ruling, ScriptedReply
from harness.types.tool_policy import Rung

Documents = st.SearchStrategy[dict[str, Any]]

TEXTS = st.sampled_from(
    ["", "a", "on", "12:30", "0o17", "two\nlines\n", "模型 🚀 äß", "{bad", "{}", '{"b":1}', " x "]
) | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NAMES = st.sampled_from(["a", "look_up", "name", "id", "no", "7", "模"])
OBJECTS = st.sampled_from(["pkg.mod:name", "m:f"])
COUNTS = st.integers(0, 10**12)
POSITIVE = st.integers(1, 10**6)


def _has_matchers(value: Any) -> bool:
    if isinstance(value, dict):
        return any(str(key).startswith("$") or _has_matchers(item) for key, item in value.items())
    return isinstance(value, list) and any(map(_has_matchers, value))


JSON = st.recursive(
    TEXTS | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
OBJECT = st.dictionaries(TEXTS, JSON, max_size=2)
UNMATCHED = OBJECT.filter(lambda value: not _has_matchers(value))
"""Where a document may hold matchers: these hold none, not even one that is none."""
ARGUMENTS = TEXTS | OBJECT


def some(required: dict[str, Any] | None = None, **optional: Any) -> Documents:
    return st.fixed_dictionaries(required or {}, optional=optional)


def filled(strategy: Documents) -> Documents:
    return strategy.filter(bool)


LONG_CALL = some({"name": TEXTS | st.none()}, arguments=ARGUMENTS | st.none(), id=TEXTS | st.none())
ONE_CALL = st.dictionaries(NAMES, ARGUMENTS, min_size=1, max_size=1)
BREAKS_OFF = some({"chunks": COUNTS}, code=st.sampled_from(BREAKS), message=TEXTS)
CHUNKED = st.sampled_from(["whole", "words"]) | some({"every": POSITIVE})
STREAMED = st.lists(OBJECT | TEXTS, min_size=1, max_size=3)
MODIFIERS = {"finish": TEXTS, "usage": some(input=COUNTS, output=COUNTS), "delay_ms": COUNTS}
ANSWER = {"reasoning": TEXTS, "refusal": TEXTS, **MODIFIERS}
CALL = NAMES | st.dictionaries(NAMES, ARGUMENTS, min_size=1, max_size=2)
FAIL = st.sampled_from(FAILURES) | some({"code": st.sampled_from(FAILURES)}, message=TEXTS, retry_after_ms=COUNTS)
REPLIES = st.one_of(
    some({"say": TEXTS}, call=CALL, **ANSWER),
    some({"calls": st.lists(ONE_CALL | LONG_CALL, min_size=1, max_size=3)}, say=TEXTS, **ANSWER),
    some({"refusal": TEXTS}, **MODIFIERS),
    some({"say": TEXTS, "chunks": CHUNKED}, chunk_delay_ms=COUNTS, cut_after=COUNTS, **MODIFIERS),
    some({"chunks": STREAMED}, chunk_delay_ms=COUNTS, fail_after=BREAKS_OFF, delay_ms=COUNTS),
    some({"fail": FAIL}, delay_ms=COUNTS),
    some({"hang": st.just(True)}, delay_ms=COUNTS),
    some({"function": OBJECTS}, delay_ms=COUNTS),
    some({"raw": OBJECT}, delay_ms=COUNTS),
    some({"empty": st.just(True)}, **MODIFIERS),
)
WHEN = filled(some(tool=NAMES, matches=st.sampled_from(["4\\d1", "(a|b)+", ""]), function=OBJECTS))


def branches(scripts: st.SearchStrategy[Any]) -> Documents:
    cases = st.lists(some({"when": WHEN, "script": scripts}), max_size=2)
    last = st.lists(some({"otherwise": scripts}), min_size=1, max_size=1)
    return st.builds(lambda first, end: {"branch": first + end}, cases, last)


SCRIPTS = st.recursive(
    st.lists(REPLIES, min_size=1, max_size=3),
    lambda inner: st.lists(REPLIES | branches(inner), min_size=1, max_size=2),
    max_leaves=4,
)
STUBS = st.one_of(
    some({"returns": JSON}, delay_ms=COUNTS, delays_ms=st.lists(COUNTS, min_size=1, max_size=2)),
    some(
        {"sequence": st.lists(JSON, min_size=1, max_size=2)},
        description=TEXTS,
        mode=st.sampled_from(["parallel", "exclusive"]),
        effect=st.sampled_from(["read", "write"]),
    ),
    some({"cases": st.lists(some({"when": OBJECT, "returns": JSON}), min_size=1, max_size=2)}),
    some({"raises": TEXTS}, code=st.sampled_from(TOOL_CODES)),
)
VISIBLE = st.lists(some({"tools": st.lists(NAMES, max_size=2)}, from_turn=POSITIVE, from_step=POSITIVE), max_size=2)
TOOLS = st.lists(NAMES, max_size=2, unique=True) | some(
    use=st.lists(NAMES, max_size=2, unique=True),
    stub=st.dictionaries(NAMES, STUBS, max_size=2),
    schemas=st.dictionaries(NAMES, OBJECT, max_size=2),
    files=st.dictionaries(NAMES, TEXTS, max_size=2),
    memory=OBJECT,
    allowed=st.lists(NAMES, max_size=2, unique=True),
    visible=st.lists(NAMES, max_size=2, unique=True),
    visible_from=VISIBLE,
    options=st.dictionaries(NAMES, JSON, max_size=2),
    **{"from": OBJECTS},
)
LIMITS = some(
    steps=COUNTS,
    wall_ms=POSITIVE,
    grace_ms=COUNTS,
    parallel_tools=POSITIVE,
    tool_timeout_ms=POSITIVE,
    turn_wall_ms=POSITIVE,
    tool_calls=COUNTS,
    tokens=POSITIVE,
    context_tokens=POSITIVE,
    repeats=st.integers(2, 9) | some(same=st.integers(2, 9), exclude=st.lists(NAMES, max_size=2, unique=True)),
)
WHENCE = st.sampled_from(["inside", "next-tick"]) | some({"after_ms": COUNTS})
AT = st.sampled_from(KINDS) | some(
    {"kind": st.sampled_from(KINDS)}, tool=NAMES, call=NAMES, agent=TEXTS, turn=POSITIVE, nth=POSITIVE, when=WHENCE
)
CANCEL = some(
    by=st.sampled_from(["user", "parent", "dispose", "hook"]),
    scope=st.sampled_from(["turn", "run"]),
    queue=st.sampled_from(["keep", "drop"]),
    reason=TEXTS,
)
FAULTS = st.sampled_from(sorted(FAULT_PLACES)).flatmap(
    lambda kind: some(
        {
            "at": some({"kind": st.just(kind)}, tool=NAMES, call=NAMES, nth=POSITIVE),
            "do": st.just("fault") | some({"fault": some(code=st.sampled_from(FAULT_PLACES[kind]), message=TEXTS)}),
        }
    )
)
TICKS = some({"at": some({"tick": POSITIVE}), "do": st.just("cancel") | some({"cancel": CANCEL})})
DO = st.sampled_from(["cancel", "throw"]) | some({"cancel": CANCEL}) | some({"throw": TEXTS})
WANTED = st.lists(NAMES | st.dictionaries(NAMES, UNMATCHED, min_size=1, max_size=1), max_size=3)
ORDERS = filled(some(exact=WANTED, subset=WANTED, superset=WANTED, **{"in-order": WANTED, "any-order": WANTED}))
MATCHER = some({"contains": TEXTS}) | some({"regex": st.just("^4")}) | some({"any": st.just(True)})
EVIDENCED = st.dictionaries(NAMES, st.lists(NAMES, min_size=1, max_size=2), min_size=1, max_size=2)
EFFECT = some({"at_most": COUNTS}, when=UNMATCHED, per=st.sampled_from(["run", "arguments"])) | some(
    {"exactly": POSITIVE}, when=UNMATCHED, per=st.sampled_from(["run", "arguments"])
)
EXPECT = some(
    status=st.sampled_from(STATUSES),
    reason=st.sampled_from(REASONS),
    steps=COUNTS,
    messages=COUNTS,
    turns=COUNTS,
    calls=WANTED | ORDERS,
    never=st.lists(NAMES, max_size=2),
    before=st.lists(st.lists(NAMES, min_size=2, max_size=2), max_size=2),
    at_most_once=st.lists(NAMES, max_size=2),
    answer=TEXTS | MATCHER,
    results=st.lists(st.sampled_from(RESULTS) | st.none(), max_size=3),
    end_state=filled(some(memory=UNMATCHED, files=UNMATCHED)),
    error=NAMES,
    provenance=some({"arguments": EVIDENCED}) | some({"answer": st.just(["4+"])}, arguments=EVIDENCED),
    effects=st.dictionaries(NAMES, EFFECT | st.lists(EFFECT, min_size=2, max_size=3), max_size=2),
)
NUMBERS = st.lists(NAMES | st.integers(0, 200), max_size=2)
MODELS = NAMES | some({"name": NAMES}, parameters=OBJECT)
ROLES = some({"script": SCRIPTS}, allow_leftovers=st.booleans()) | some({"model": MODELS}, script=SCRIPTS)
RULES = {
    "failure": some(
        retries=COUNTS, delay_ms=COUNTS, then=st.sampled_from(["report", "fail-run"]) | some({"tool": NAMES})
    ),
    "results": some({"max_chars": st.integers(200, 9_999)}) | some({"max_bytes": st.integers(200, 9_999)}),
    "timeout_ms": POSITIVE,
}


def no_tool_falls_back_to_itself(rules: dict[str, Any]) -> bool:
    return all(one.get("failure", {}).get("then") != {"tool": name} for name, one in rules.items())


RULINGS = st.sampled_from([*Ruling]).map(str)
POLICIES = some(
    read_only=st.booleans(),
    tools=st.dictionaries(
        NAMES | st.just("*"), RULINGS | st.lists(some({"when": UNMATCHED, "then": RULINGS}, why=NAMES), min_size=1, max_size=2), max_size=2
    ),
    approvals=st.lists(some({"answer": st.sampled_from([*ScriptedReply]).map(str)}, tool=NAMES, call=NAMES, after_ms=COUNTS), max_size=2),
)  # fmt: skip
AGENTS = st.dictionaries(
    st.sampled_from(["helper", "a-1"]),
    some({"description": NAMES}, system=TEXTS, tools=st.lists(NAMES, max_size=2, unique=True), visible_from=VISIBLE, limits=LIMITS.filter(lambda limits: limits.get("steps") != 0)),
    max_size=2,
)
WIRE_FAULTS = st.lists(
    st.integers(1, 99).flatmap(lambda n: st.one_of(
        some({"request": st.just(n), "status": st.integers(400, 599)}, message=NAMES, retry_after_ms=COUNTS, delay_ms=COUNTS),
        some({"request": st.just(n), "fail": st.sampled_from(WIRE_FAILURES) | some({"code": st.sampled_from(WIRE_FAILURES)}, message=NAMES, retry_after_ms=COUNTS)}),
        some({"request": st.just(n)} | {"reset": st.just(True)}, delay_ms=COUNTS),
        st.sampled_from(["cut_after", "malformed_after", "stall_after"]).flatmap(lambda kind: some({"request": st.just(n), kind: COUNTS})),
        some({"request": st.just(n), "empty": st.just(True)}),
        some({"request": st.just(n), "content_type": NAMES}),
        some({"request": st.just(n), "delay_ms": POSITIVE}),
    )),
    max_size=3, unique_by=lambda fault: fault["request"],
)  # fmt: skip
DOCUMENTS = some(
    {"format": st.just("harness-scenario/1")},
    id=NAMES,
    title=TEXTS,
    tags=st.lists(NAMES, max_size=2),
    covers=some(conformance=NUMBERS, articles=NUMBERS, public_cases=NUMBERS),
    skip=NAMES,
    system=TEXTS,
    tools=TOOLS,
    model=MODELS,
    script=SCRIPTS,
    models=st.dictionaries(NAMES, ROLES, max_size=2),
    allow_leftovers=st.booleans(),
    faults=WIRE_FAULTS,
    limits=LIMITS,
    inject=st.lists(some({"at": AT, "do": DO}) | FAULTS | TICKS, max_size=2),
    release=st.lists(NAMES, max_size=2, unique=True),
    expect=EXPECT,
    expect_after=EXPECT,
    checks=st.lists(NAMES, max_size=2, unique=True),
    tool_policy=some(**RULES, tools=st.dictionaries(NAMES, some(**RULES), max_size=2).filter(no_tool_falls_back_to_itself), repair=st.lists(st.sampled_from([*Rung]).map(str), max_size=3, unique=True)),
    context=some(
        compact=some({"at_tokens": POSITIVE}, keep_last=COUNTS) | some({"at_messages": POSITIVE}, by=st.just("fold")),
        window=some({"last_messages": POSITIVE}),
        memory=some({"shown": st.booleans()}),
    ),
    policy=POLICIES,
    agents=AGENTS,
    runtime_context=OBJECT | st.lists(OBJECT, min_size=1, max_size=2),
    clock=st.sampled_from(["virtual", "system"]),
    seed=COUNTS,
).flatmap(lambda fields: st.one_of(some({"task": TEXTS}), some({"tasks": st.lists(TEXTS, min_size=1, max_size=2)})).map(lambda task: {**fields, **task}))  # fmt: skip
