"""A document becomes the value that it says, or an error with file, line, field and remedy."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ScenarioError
from harness.scenarios import load_scenario, parse_scenario, scenario
from harness.types import scenario as types
from harness.types.codes import CancelBy, CancelScope, ClockKind, InboxQueue, QueueDisposition
from harness.types.scenario import (
    Boundary,
    BoundaryWhen,
    CallOrder,
    CancelAction,
    FaultAction,
    SendAction,
    Stub,
    ThrowAction,
)
from harness.types.script import (
    ScriptBranch,
    ScriptCall,
    ScriptCase,
    ScriptFailure,
    ScriptReply,
    When,
)

REFUND = """\
format: harness-scenario/1
task: Refund order 7, please.
tools: {from: "myapp:registry", stub: {lookup_order: {returns: {id: 7, total: 19.9}}, refund: {returns: ok}}}
script:
  - call: {lookup_order: {id: 7}}
  - call: {refund: {order: 7}}
  - say: Refunded.
expect: {status: completed, steps: 3, never: [delete_order]}
"""
HEAD = "format: harness-scenario/1\ntask: t\n"


def parsed(body: str) -> types.Scenario:
    return parse_scenario(HEAD + body, "x.yaml")


def reply(body: str) -> Any:
    """The only entry of a script that is written as one flow mapping."""
    script = parsed(f"script:\n  - {body}\n").script
    assert script is not None
    return script[0]


def test_the_published_example_loads_as_it_stands() -> None:
    value = parse_scenario(REFUND, "scenarios/refund.yaml")
    assert value.id == "refund"
    assert value.tasks == ("Refund order 7, please.",)
    assert value.tools.source == "myapp:registry"
    assert value.tools.stubs == (
        ("lookup_order", Stub(returns='{"id":7,"total":19.9}')),  # type: ignore[arg-type]
        ("refund", Stub(returns='"ok"')),  # type: ignore[arg-type]
    )
    assert value.script == (
        ScriptReply(calls=(ScriptCall("lookup_order", '{"id":7}'),)),
        ScriptReply(calls=(ScriptCall("refund", '{"order":7}'),)),
        ScriptReply(say="Refunded."),
    )
    assert (value.expect.status, value.expect.steps, value.expect.never) == ("completed", 3, ("delete_order",))
    assert value.limits.steps == 10


def test_loading_imports_nothing_that_a_scenario_names(tmp_path: Path) -> None:
    tmp_path.joinpath("myapp.py").write_text("raise SystemExit('imported')\n", "utf-8")
    tmp_path.joinpath("x.yaml").write_text(REFUND + "  \n", "utf-8")
    code = "import sys; from harness.scenarios import load_scenario; load_scenario('x.yaml'); print('myapp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("say: hi", ScriptReply(say="hi"), id="say"),
        pytest.param("say: ''", ScriptReply(say=""), id="say-nothing"),
        pytest.param("call: look", ScriptReply(calls=(ScriptCall("look", "{}"),)), id="call-by-name"),
        pytest.param("call: {a: {}, b: {x: [1, 2.5]}}", ScriptReply(calls=(ScriptCall("a", "{}"), ScriptCall("b", '{"x":[1,2.5]}'))), id="two-calls"),
        pytest.param("{say: so, call: {a: {}}}", ScriptReply(say="so", calls=(ScriptCall("a", "{}"),)), id="say-and-call"),
        pytest.param("call: {a: {z: 1, b: 文}}", ScriptReply(calls=(ScriptCall("a", '{"b":"文","z":1}'),)), id="arguments-are-canonical"),
        pytest.param("call: {a: '{bad'}", ScriptReply(calls=(ScriptCall("a", "{bad"),)), id="raw-arguments"),
        pytest.param("call: {a: ''}", ScriptReply(calls=(ScriptCall("a", ""),)), id="empty-arguments"),
        pytest.param("calls: [{a: {}}, {a: {}}]", ScriptReply(calls=(ScriptCall("a", "{}"), ScriptCall("a", "{}"))), id="one-tool-twice"),
        pytest.param("calls: [{name: a, arguments: {x: 1}, id: c1}]", ScriptReply(calls=(ScriptCall("a", '{"x":1}', "c1"),)), id="call-with-id"),
        pytest.param("calls: [{name: a}]", ScriptReply(calls=(ScriptCall("a", "{}"),)), id="long-call-without-arguments"),
        pytest.param("calls: [{name: a, id: ''}]", ScriptReply(calls=(ScriptCall("a", "{}", ""),)), id="empty-id"),
        pytest.param("calls: [{name: a, id: null}]", ScriptReply(calls=(ScriptCall("a", "{}", None, True),)), id="absent-id"),
        pytest.param("calls: [{name: null, arguments: null}]", ScriptReply(calls=(ScriptCall(None, None),)), id="absent-name-and-arguments"),
        pytest.param("calls: [{name: {x: 1}}]", ScriptReply(calls=(ScriptCall("name", '{"x":1}'),)), id="a-tool-called-name"),
        pytest.param("fail: RATE_LIMIT", ScriptReply(fail=ScriptFailure("RATE_LIMIT")), id="fail-by-code"),
        pytest.param("fail: {code: SERVER, message: m, retry_after_ms: 5}", ScriptReply(fail=ScriptFailure("SERVER", "m", 5)), id="fail"),
        pytest.param("hang: true", ScriptReply(hang=True), id="hang"),
        pytest.param("function: pkg.mod:fn", ScriptReply(function="pkg.mod:fn"), id="function"),
        pytest.param("raw: {choices: []}", ScriptReply(raw='{"choices":[]}'), id="raw"),  # type: ignore[arg-type]
        pytest.param("empty: true", ScriptReply(empty=True), id="empty"),
        pytest.param("{say: a, finish: '', reasoning: r, delay_ms: 3, usage: {input: 1, output: 2}}", ScriptReply(say="a", finish="", reasoning="r", delay_ms=3, input_tokens=1, output_tokens=2), id="modifiers"),
        pytest.param("refusal: no", ScriptReply(refusal="no"), id="refusal-alone"),
        pytest.param("branch: [{when: {tool: a, matches: '4\\d1'}, script: [say: x]}, {otherwise: [say: y]}]",
                     ScriptBranch((ScriptCase(When("a", "4\\d1"), (ScriptReply(say="x"),)), ScriptCase(When(), (ScriptReply(say="y"),)))), id="branch"),
        pytest.param("branch: [{when: {function: 'm:f'}, script: [branch: [{otherwise: [say: x]}]]}]",
                     ScriptBranch((ScriptCase(When(function="m:f"), (ScriptBranch((ScriptCase(When(), (ScriptReply(say="x"),)),)),)),)), id="branch-in-branch"),
    ],
)  # fmt: skip
@pytest.mark.article("17")
def test_each_form_of_a_reply_gives_its_value(body: str, expected: object) -> None:
    assert reply(body) == expected


@pytest.mark.parametrize(
    ("body", "at", "do"),
    [
        pytest.param("{at: run/start, do: cancel}", Boundary("run/start"), CancelAction(), id="short"),
        pytest.param("{at: {kind: tool/start, tool: a, call: c1, turn: 2, nth: 3, when: next-tick}, do: throw}",
                     Boundary("tool/start", "a", "c1", None, 2, 3, BoundaryWhen.NEXT_TICK), ThrowAction(), id="all-fields"),
        pytest.param("{at: {kind: tool/start, when: {after_ms: 5}}, do: {throw: boom}}", Boundary("tool/start", after_ms=5), ThrowAction("boom"), id="later"),
        pytest.param("{at: tool/start, do: {send: {text: a}}}", Boundary("tool/start"), SendAction("a"), id="send"),
        pytest.param("{at: tool/start, do: {send: {text: a, queue: steer}}}", Boundary("tool/start"), SendAction("a", InboxQueue.STEER), id="steer"),
        pytest.param("{at: turn/end, do: {cancel: {by: dispose, scope: turn, queue: keep, reason: r}}}", Boundary("turn/end"),
                     CancelAction(CancelBy.DISPOSE, CancelScope.TURN, QueueDisposition.KEEP, "r"), id="cancel-in-full"),
        pytest.param("{at: {tick: 3}, do: cancel}", Boundary("", tick=3), CancelAction(), id="tick"),
        pytest.param("{at: {kind: tool/start, tool: a}, do: fault}", Boundary("tool/start", "a"), FaultAction(), id="fault"),
        pytest.param("{at: {kind: model/request, nth: 2}, do: {fault: {code: TIMEOUT, message: late}}}",
                     Boundary("model/request", nth=2), FaultAction("TIMEOUT", "late"), id="fault-in-full"),
    ],
)  # fmt: skip
def test_each_form_of_an_injection_gives_its_value(body: str, at: Boundary, do: object) -> None:
    (injection,) = parsed(f"inject:\n  - {body}\n").inject
    assert (injection.at, injection.do) == (at, do)


def test_every_expectation_reaches_its_field() -> None:
    expect = parsed(
        "expect:\n"
        "  {status: limit_reached, reason: limit, steps: 1, messages: 2, turns: 3, never: [a], before: [[a, b]], at_most_once: [c],\n"
        "   calls: {in-order: [a, {b: {x: {$any: true}}}], subset: [a]}, answer: {contains: '42'}, results: [OK, null, UNKNOWN_TOOL],\n"
        "   end_state: {memory: {k: 1}, files: {a.txt: x}}, error: boom}\n"
    ).expect
    call = types.ExpectedCall
    assert expect == types.Expectations(
        status="limit_reached", reason="limit", steps=1, messages=2, turns=3,
        calls=(
            types.ExpectedCalls(CallOrder.IN_ORDER, (call("a"), call("b", '{"x":{"$any":true}}'))),  # type: ignore[arg-type]
            types.ExpectedCalls(CallOrder.SUBSET, (call("a"),)),
        ),
        never=("a",), before=(("a", "b"),), at_most_once=("c",), answer='{"$contains":"42"}',  # type: ignore[arg-type]
        result_codes=((1, "OK"), (3, "UNKNOWN_TOOL")), end_state='{"files":{"a.txt":"x"},"memory":{"k":1}}', error="boom",  # type: ignore[arg-type]
    )  # fmt: skip
    assert parsed("expect: {calls: [a], answer: 'yes'}\n").expect == types.Expectations(
        calls=(types.ExpectedCalls(CallOrder.EXACT, (call("a"),)),), answer='"yes"'  # type: ignore[arg-type]
    )


@pytest.mark.article("10", "16")
def test_principles_task_and_limits_are_three_fields_and_limits_have_stated_defaults() -> None:
    value = parsed("system: be kind\nlimits: {steps: 3, wall_ms: 5, grace_ms: 0, parallel_tools: 1, tool_timeout_ms: 9}\n")
    assert (value.system, value.tasks, value.limits) == ("be kind", ("t",), types.Limits(3, 5, 0, 1, 9))
    assert parsed("").limits == types.Limits(steps=10, wall_ms=600_000, grace_ms=1_000, parallel_tools=8)


def test_the_remaining_fields_reach_their_value() -> None:
    value = parse_scenario(
        "format: harness-scenario/1\nid: a/b\ntitle: T\ntags: [x, y]\nskip: later\ntasks: [one, two]\n"
        "covers: {conformance: [1, 96a], articles: ['7', 'A:answer-52'], public_cases: [PB-001]}\n"
        "tools: {use: [calc], schemas: {s: {type: object}}, files: {a.txt: x}, memory: {k: 1}, allowed: [], options: {calc: 1}}\n"
        "model: {name: m, parameters: {temperature: 0}}\nclock: system\nchecks: [pairing]\nallow_leftovers: true\nseed: 7\n",
        "x.yaml",
    )
    assert value.id == "a/b"
    assert value.tasks == ("one", "two")
    assert (value.title, value.tags, value.skip, value.seed) == ("T", ("x", "y"), "later", 7)
    assert value.covers == ("conformance:1", "conformance:96a", "article:7", "article:A:answer-52", "public_case:PB-001")
    assert value.tools.allowed == ()
    assert value.tools.memory == (("k", "1"),)
    assert value.model == types.ModelSpec("m", '{"temperature":0}')  # type: ignore[arg-type]
    assert (value.clock, value.checks, value.allow_leftovers) == (ClockKind.SYSTEM, ("pairing",), True)
    assert value.script is None


BAD = [
    pytest.param("systme: x\n", 3, "systme", ("unknown field 'systme'", "did you mean 'system'"), id="typo"),
    pytest.param("limits:\n  steps: 3\n  setps: 3\n", 5, "limits.setps", ("did you mean 'steps'",), id="typo-inside"),
    pytest.param("script:\n  - say: a\n  - sya: b\n", 5, "script[1].sya", ("did you mean 'say'",), id="typo-in-a-reply"),
    pytest.param("limits: {steps: ten}\n", 3, "limits.steps", ("whole number", '"ten"'), id="text-for-a-number"),
    pytest.param("limits: {steps: 1.5}\n", 3, "limits.steps", ("whole number", "1.5"), id="fraction"),
    pytest.param("limits: {steps: true}\n", 3, "limits.steps", ("whole number", "true"), id="truth-for-a-number"),
    pytest.param("limits: {steps: -1}\n", 3, "limits.steps", ("at least 0", "-1"), id="negative"),
    pytest.param("limits: {parallel_tools: 0}\n", 3, "limits.parallel_tools", ("at least 1",), id="no-parallel-tools"),
    pytest.param("title: 7\n", 3, "title", ("must be text", "quotes"), id="number-for-text"),
    pytest.param("tags: slow\n", 3, "tags", ("must be a list", '"slow"'), id="text-for-a-list"),
    pytest.param("allow_leftovers: yes\n", 3, "allow_leftovers", ("true or false", '"yes"'), id="yes-is-text"),
    pytest.param("skip: true\n", 3, "skip", ("must be text",), id="skip-without-a-reason"),
    pytest.param("seed:\n", 3, "seed", ("no value", "remove the field"), id="no-value"),
    pytest.param("clock: vritual\n", 3, "clock", ("did you mean 'virtual'",), id="unknown-clock"),
    pytest.param("expect: {status: complete}\n", 3, "expect.status", ("did you mean 'completed'",), id="unknown-status"),
    pytest.param("expect: {results: [OK, UNKNOWN_TOL]}\n", 3, "expect.results[1]", ("did you mean 'UNKNOWN_TOOL'",), id="unknown-code"),
    pytest.param("expect: {before: [[a]]}\n", 3, "expect.before[0]", ("2 entries",), id="before-needs-two"),
    pytest.param("expect: {before: [[a, b, c]]}\n", 3, "expect.before[0]", ("2 entries at most",), id="before-needs-only-two"),
    pytest.param("expect: {calls: {inorder: [a]}}\n", 3, "expect.calls.inorder", ("did you mean 'in-order'",), id="unknown-order"),
    pytest.param("expect: {calls: {}}\n", 3, "expect.calls", ("asks nothing",), id="no-order"),
    pytest.param("expect: {calls: [{a: {}, b: {}}]}\n", 3, "expect.calls[0]", ("1 entries at most",), id="two-calls-in-one"),
    pytest.param("expect: {calls: [{a: {x: {$nera: 1}}}]}\n", 3, "expect.calls[0].a", ("is no matcher", "$nera"), id="unknown-matcher"),
    pytest.param("expect: {end_state: {memory: {x: {$regex: '('}}}}\n", 3, "expect.end_state.memory", ("is no matcher",), id="bad-matcher"),
    pytest.param("expect: {answer: 42}\n", 3, "expect.answer", ("must be text, or a matcher",), id="answer-that-is-a-number"),
    pytest.param("expect: {answer: {regex: '('}}\n", 3, "expect.answer.regex", ("no regular expression",), id="bad-regex"),
    pytest.param("expect: {answer: {contains: a, regex: b}}\n", 3, "expect.answer", ("one of contains",), id="two-matchers"),
    pytest.param("script: []\n", 3, "script", ("must not be empty",), id="empty-script"),
    pytest.param("script:\n  - {}\n", 4, "script[0]", ("must be one reply, is nothing",), id="empty-reply"),
    pytest.param("script: [text]\n", 3, "script[0]", ("must be a reply such as",), id="reply-that-is-text"),
    pytest.param("script:\n  - {say: a, fail: AUTH}\n", 4, "script[0]", ("say, fail",), id="two-forms"),
    pytest.param("script:\n  - {call: a, calls: [{a: {}}]}\n", 4, "script[0].calls", ("both",), id="call-and-calls"),
    pytest.param("script:\n  - {hang: true, finish: stop}\n", 4, "script[0].finish", ("'finish' belongs to an answer",), id="finish-of-a-hang"),
    pytest.param("script:\n  - hang: false\n", 4, "script[0].hang", ("must be True", "false"), id="hang-false"),
    pytest.param("script:\n  - call: {a: [1]}\n", 4, "script[0].call.a", ("mapping of arguments, or raw text",), id="list-as-arguments"),
    pytest.param("script:\n  - call: {}\n", 4, "script[0].call", ("must not be empty",), id="no-call"),
    pytest.param("script:\n  - fail: RATE_LIMT\n", 4, "script[0].fail", ("did you mean 'RATE_LIMIT'",), id="unknown-failure"),
    pytest.param("script:\n  - fail: CASSETTE_MISS\n", 4, "script[0].fail", ("unknown value",), id="a-failure-of-ours"),
    pytest.param("script:\n  - function: os.system\n", 4, "script[0].function", ("package.module:name",), id="no-object-name"),
    pytest.param("script:\n  - branch: []\n", 4, "script[0].branch", ("must not be empty",), id="no-branches"),
    pytest.param("script:\n  - branch: [{otherwise: [say: a]}, {when: {tool: a}, script: [say: b]}]\n", 4, "script[0].branch", ("last case",), id="otherwise-first"),
    pytest.param("script:\n  - branch: [{when: {}, script: [say: a]}]\n", 4, "script[0].branch[0].when", ("asks nothing",), id="when-nothing"),
    pytest.param("script:\n  - branch: [{script: [say: a]}]\n", 4, "script[0].branch[0]", ("otherwise",), id="case-without-condition"),
    pytest.param("inject: [{at: tool/stat, do: cancel}]\n", 3, "inject[0].at", ("did you mean 'tool/start'",), id="unknown-kind"),
    pytest.param("inject: [{at: {kind: run/start, nth: 0}, do: cancel}]\n", 3, "inject[0].at.nth", ("at least 1",), id="nth-from-1"),
    pytest.param("inject: [{at: {tick: 0}, do: cancel}]\n", 3, "inject[0].at.tick", ("at least 1",), id="tick-from-1"),
    pytest.param("inject: [{at: {tick: 1, kind: tool/start}, do: cancel}]\n", 3, "inject[0].at.kind", ("unknown field 'kind'",), id="tick-of-a-kind"),
    pytest.param("inject: [{at: tool/end, do: fault}]\n", 3, "inject[0].at", ("tool/start and model/request",), id="fault-out-of-place"),
    pytest.param("inject: [{at: {kind: tool/start, when: next-tick}, do: fault}]\n", 3, "inject[0].at", ("inside",), id="fault-in-the-next-tick"),
    pytest.param("inject: [{at: {tick: 4}, do: fault}]\n", 3, "inject[0].at", ("tool/start and model/request",), id="fault-at-a-tick"),
    pytest.param("inject: [{at: {tick: 4}, do: throw}]\n", 3, "inject[0].at", ("no listener",), id="throw-at-a-tick"),
    pytest.param("inject: [{at: tool/start, do: {fault: {code: SERVER}}}]\n", 3, "inject[0].do", ("'SERVER' does not fit tool/start",), id="fault-of-another-door"),
    pytest.param("inject: [{at: run/start, do: kill}]\n", 3, "inject[0].do", ("'kill' comes later",), id="kill"),
    pytest.param("inject: [{at: run/start, do: {send: {queue: steer}}}]\n", 3, "inject[0].do.send.text", ("missing",), id="send-without-text"),
    pytest.param("inject: [{at: run/start, do: {send: {text: a, queue: later}}}]\n", 3, "inject[0].do.send.queue", ("'later'", "steer"), id="send-to-no-queue"),
    pytest.param("inject: [{at: run/start, do: send}]\n", 3, "inject[0].do", ("'send'",), id="send-without-anything"),
    pytest.param("inject: [{at: tool/start, do: {fault: x}}]\n", 3, "inject[0].do.fault", ("must be a mapping of fields",), id="fault-that-is-text"),
    pytest.param("inject: [{at: run/start}]\n", 3, "inject[0].do", ("is required",), id="inject-without-do"),
    pytest.param("inject: [{at: run/start, do: {}}]\n", 3, "inject[0].do", ("one action",), id="do-nothing"),
    pytest.param("faults: [{request: 0, reset: true}]\n", 3, "faults[0].request", ("at least 1",), id="fault-from-1"),
    pytest.param("faults: [{request: 1}]\n", 3, "faults[0]", ("one fault, has none",), id="fault-of-nothing"),
    pytest.param("faults: [{request: 1, reset: true, status: 500}]\n", 3, "faults[0]", ("has status and reset",), id="two-faults-in-one"),
    pytest.param("faults: [{request: 1, reset: true}, {request: 1, empty: true}]\n", 3, "faults", ("request 1 has two faults",), id="two-faults-of-one-request"),
    pytest.param("faults: [{request: 1, status: 200}]\n", 3, "faults[0].status", ("at least 400",), id="fault-that-is-a-success"),
    pytest.param("faults: [{request: 1, reset: true, retry_after_ms: 1}]\n", 3, "faults[0].retry_after_ms", ("belongs to a 'status'",), id="pause-of-a-reset"),
    pytest.param("faults: [{request: 1, reset: false}]\n", 3, "faults[0].reset", ("must be True",), id="reset-false"),
    pytest.param("faults: [{request: 1, fail: EMPTY_RESPONSE}]\n", 3, "faults[0].fail", ("unknown value",), id="fault-that-is-an-answer"),
    pytest.param("policy: {read_only: maybe}\n", 3, "policy.read_only", ("true or false",), id="read-only-is-no-truth"),
    pytest.param("policy: {tools: {a: dney}}\n", 3, "policy.tools.a", ("did you mean 'deny'",), id="unknown-ruling"),
    pytest.param("policy: {tools: {a: [{then: deny}, {then: ask}]}}\n", 3, "policy.tools", ("put it last",), id="rule-behind-the-last"),
    pytest.param("policy: {tools: {a: [{when: {x: {$nera: 1}}, then: deny}]}}\n", 3, "policy.tools.a[0].when", ("is no matcher",), id="rule-with-a-bad-matcher"),
    pytest.param("policy: {approvals: [{tool: a}]}\n", 3, "policy.approvals[0].answer", ("missing",), id="approval-without-an-answer"),
    pytest.param("policy: {approvals: [{answer: maybe}]}\n", 3, "policy.approvals[0].answer", ("unknown value 'maybe'",), id="unknown-answer"),
    pytest.param("script_follows: history\nscript: [fail: SERVER]\n", 3, "script_follows", ("without branches",), id="history-of-failures"),
    pytest.param("models: {main: {model: m}}\n", 3, "models.main", ("'model' and 'script'",), id="main-is-no-other-role"),
    pytest.param("models: {child: {allow_leftovers: true}}\n", 3, "models.child", ("needs a 'script'",), id="role-without-a-model"),
    pytest.param("tools: {stub: {a: {}}}\n", 3, "tools.stub.a", ("must have one of", "none"), id="stub-without-a-form"),
    pytest.param("tools: {stub: {a: {returns: 1, raises: x}}}\n", 3, "tools.stub.a", ("returns, raises",), id="stub-with-two-forms"),
    pytest.param("tools: {stub: {a: {returns: 1, code: EMPTY}}}\n", 3, "tools.stub.a.code", ("belongs to 'raises'",), id="code-without-raises"),
    pytest.param("tools: {from: registry}\n", 3, "tools.from", ("package.module:name",), id="registry-without-module"),
    pytest.param("tools: {form: 'a:b'}\n", 3, "tools.form", ("did you mean 'from'",), id="form-for-from"),
    pytest.param("covers: {conformance: [1.5]}\n", 3, "covers.conformance[0]", ("number of a catalogue", "1.5"), id="covers-a-fraction"),
    pytest.param("tasks: [a]\n", 2, "", ("'task'", "'tasks'"), id="task-and-tasks"),
    pytest.param("tool_policy:\n  tools:\n    a: {failure: {then: {tool: a}}}\n", 5, "tool_policy.tools.a.failure", ("falls back to itself", "retries"), id="fallback-to-itself"),
    pytest.param("tool_policy: {repair: [lone-string, lone-string]}\n", 3, "tool_policy.repair", ("'lone-string' twice",), id="rung-twice"),
    pytest.param("retry: {codes: []}\n", 3, "retry.codes", ("must not be empty",), id="retry-of-nothing"),
    pytest.param("retry: {codes: [SERVER, SERVER]}\n", 3, "retry.codes", ("'SERVER' twice",), id="code-twice"),
    pytest.param("retry:\n  cap_ms: 10\n  base_ms: 11\n", 5, "retry.base_ms", ("more than cap_ms (10)",), id="base-above-cap"),
    pytest.param("retry: {base_ms: 30001}\n", 3, "retry.base_ms", ("more than cap_ms (30000)",), id="base-above-the-default-cap"),
    pytest.param("release: [c1, c2, c1]\n", 3, "release", ("'c1' twice",), id="released-twice"),
    pytest.param("tools: [calculator, calculator]\n", 3, "tools", ("'calculator' twice",), id="tool-twice"),
    pytest.param("tools: {use: [a, a]}\n", 3, "tools.use", ("'a' twice",), id="used-twice"),
    pytest.param("tools: {use: [a], visible: [a, a]}\n", 3, "tools.visible", ("'a' twice",), id="visible-twice"),
    pytest.param("tools: {use: [a], allowed: [a, a]}\n", 3, "tools.allowed", ("'a' twice",), id="allowed-twice"),
    pytest.param("checks: [pairing, pairing]\n", 3, "checks", ("'pairing' twice",), id="check-twice"),
    pytest.param("limits: {repeats: {exclude: [a, a]}}\n", 3, "limits.repeats.exclude", ("'a' twice",), id="excluded-twice"),
    pytest.param("limits: {repeats: {remind: [3, 3]}}\n", 3, "limits.repeats.remind", ("3 twice",), id="reminded-twice"),
    pytest.param("agents: {a: {description: ''}}\n", 3, "agents.a.description", ("must not be empty",), id="agent-without-description"),
    pytest.param("agents: {a: {description: ' '}}\n", 3, "agents.a.description", ("must not be empty",), id="agent-described-by-blanks"),
    pytest.param("agents: {a: {description: A., tools: [b, b]}}\n", 3, "agents.a.tools", ("'b' twice",), id="agents-tool-twice"),
    pytest.param("agents:\n  a:\n    description: A.\n    limits: {steps: 0}\n", 6, "agents.a.limits.steps", ("never answer",), id="agent-without-a-step"),
    pytest.param("expect: {provenance: {}}\n", 3, "expect.provenance", ("evidence of nothing",), id="evidence-of-nothing"),
    pytest.param("expect: {provenance: {answer: [], arguments: {a: []}}}\n", 3, "expect.provenance", ("evidence of nothing",), id="evidence-of-no-argument"),
    pytest.param("expect_after: {stauts: completed}\n", 3, "expect_after.stauts", ("did you mean 'status'",), id="typo-behind-a-park"),
    pytest.param("model: 7\n", 3, "model", ("a model's name",), id="model-that-is-a-number"),
    pytest.param("id: ''\n", 3, "id", ("must not be empty",), id="empty-id"),
]  # fmt: skip


@pytest.mark.conformance("44")
@pytest.mark.public_case("PB-050")
@pytest.mark.parametrize(("body", "line", "field", "words"), BAD)
def test_a_wrong_field_is_refused_with_file_line_field_and_remedy(
    body: str, line: int, field: str, words: tuple[str, ...]
) -> None:
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(HEAD + body, "some/x.yaml")
    error = caught.value
    assert (error.file, error.field) == ("some/x.yaml", field)
    assert error.line == (line if field else 1)
    assert error.exit_code == 2
    for word in words:
        assert word in str(error)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("- a\n", "is no scenario", id="list"),
        pytest.param("just text\n", "is no scenario", id="text"),
        pytest.param("task: a\n", "write 'format: harness-scenario/1' first", id="no-format"),
        pytest.param("format: harness-scenario/2\ntask: a\n", "must be 'harness-scenario/1'", id="another-version"),
        pytest.param("format: harness-scenario/1\n", "needs 'task'", id="no-task"),
        pytest.param("", "is empty", id="empty"),
    ],
)
def test_what_is_no_scenario_says_so(text: str, words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        parse_scenario(text, "x.yaml")


def test_all_complaints_come_at_once_in_the_order_of_lines_and_are_cut_at_ten() -> None:
    with pytest.raises(ScenarioError) as caught:
        parsed("script:\n  - say: 1\nlimits:\n  steps: x\ntitle: 1\n")
    assert caught.value.line == 4
    assert [line.split(",")[0] for line in str(caught.value).splitlines()] == ["x.yaml:4", "x.yaml:6", "x.yaml:7"]
    with pytest.raises(ScenarioError, match=r"and 5 more$"):
        parsed("tags: [" + "1, " * 15 + "]\n")


class TestPython:
    def test_the_python_form_gives_the_value_of_the_document(self) -> None:
        document = parse_scenario(REFUND, "x.yaml", id="refund")
        python = scenario(
            id="refund",
            task="Refund order 7, please.",
            tools={
                "from": "myapp:registry",
                "stub": {"lookup_order": {"returns": {"id": 7, "total": 19.9}}, "refund": {"returns": "ok"}},
            },
            script=({"call": {"lookup_order": {"id": 7}}}, {"call": {"refund": {"order": 7}}}, {"say": "Refunded."}),
            expect={"status": "completed", "steps": 3, "never": ["delete_order"]},
        )
        assert python == replace(document, source="", line=None)
        assert python.digest == document.digest

    @pytest.mark.public_case("PB-043")
    def test_tags_given_as_a_set_are_sorted(self) -> None:
        assert scenario(task="t", tags={"b", "c", "a"}).tags == ("a", "b", "c")

    def test_enums_count_as_their_words(self) -> None:
        assert scenario(task="t", clock=ClockKind.SYSTEM).clock is ClockKind.SYSTEM

    def test_a_typo_is_refused_by_field(self) -> None:
        with pytest.raises(ScenarioError, match=r"field 'limits.setps'.*did you mean 'steps'"):
            scenario(task="t", limits={"setps": 1})

    @pytest.mark.conformance("119")
    @pytest.mark.parametrize("value", [float("nan"), {1, 2.5, object()}, b"x", object()], ids=["nan", "object-in-set", "bytes", "object"])
    def test_a_value_that_is_no_json_is_refused(self, value: object) -> None:
        with pytest.raises(ScenarioError, match="not lossless JSON"):
            scenario(task="t", tools={"memory": {"k": value}})

    def test_half_a_surrogate_pair_becomes_the_replacement_character(self) -> None:
        assert scenario(task="a\ud800").tasks == ("a\ufffd",)


class TestDigest:
    @pytest.mark.parametrize(
        "body",
        [
            pytest.param("title: other\n", id="title"),
            pytest.param("covers: {conformance: [1]}\n", id="covers"),
            pytest.param("# remark\n", id="remark"),
            pytest.param("limits: {steps: 10}\n", id="default-written-out"),
        ],
    )
    def test_it_is_the_same_for_what_a_run_does_not_see(self, body: str) -> None:
        assert parsed(body).digest == parsed("").digest

    def test_key_order_and_notation_change_nothing(self) -> None:
        one = "tools: {memory: {a: 1, b: 2}}\nscript:\n  - call: {x: {p: 1, q: 2}}\n"
        other = "script: [{calls: [{name: x, arguments: '{\"p\":1,\"q\":2}'}]}]\ntools:\n  memory: {b: 2, a: 1}\n"
        assert parsed(one) == parsed(other)

    @pytest.mark.parametrize("body", ["system: x\n", "tags: [a]\n", "limits: {steps: 9}\n", "script: [say: a]\n", "seed: 1\n", "id: y\n"])
    def test_anything_else_changes_it(self, body: str) -> None:
        assert parsed(body).digest != parsed("").digest


@pytest.mark.public_case("PB-048")
def test_names_in_any_script_and_crlf_load_under_any_locale(tmp_path: Path) -> None:
    path = tmp_path / "模型 🚀 äß.yaml"
    text = "format: harness-scenario/1\r\ntask: |\r\n  模型 🚀\r\n  äß\r\nscript:\r\n  - say: 模型 🚀 äß\r\n"
    path.write_bytes(text.encode())
    code = "import sys; from harness.scenarios import load_scenario; s = load_scenario(sys.argv[1]); print(ascii((s.id, s.tasks, s.script[0].say, s.digest)))"
    environments = [{"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONUTF8": "1"}]
    command = [sys.executable, "-X", "warn_default_encoding", "-W", "error::EncodingWarning:harness", "-c", code, os.fspath(path)]
    printed = [subprocess.run(command, env=env, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True, timeout=60).stdout for env in environments]  # fmt: skip
    value = load_scenario(path)
    assert printed == [ascii((value.id, value.tasks, "模型 🚀 äß", value.digest)) + "\n"] * 2
    assert value.tasks == ("模型 🚀\näß\n",)
