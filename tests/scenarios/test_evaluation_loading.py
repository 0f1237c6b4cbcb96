"""An evaluation's document becomes the value that it says, or an error with file, line, field and remedy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ScenarioError
from harness.scenarios.evaluation_loading import evaluation, load_evaluation, parse_evaluation
from harness.types.evaluation import (
    Acceptable,
    Arm,
    Asking,
    Case,
    Estimand,
    Evaluation,
    Execute,
    GateSpec,
    Grading,
    Metric,
    Running,
    SourceKind,
    Split,
    ToolOrder,
    ToolSource,
    Wanted,
)
from harness.types.expectations import CallOrder, ExpectedCall
from harness.types.limits import Limits
from harness.types.messages import ChatAssistant, ChatCall, ChatDeveloper, ChatSystem, ChatTool, ChatUser, JsonText
from harness.types.model_spec import ModelApi, ModelSpec
from harness.types.scenario import Stub

HEAD = "format: harness-evaluation/1\ntools: {use: [calculator]}\n"
ONE = "cases: [{ask: a, expect: no_call}]\n"
TWO = "arms: {now: {}, new: {system: s}}\n"
THREE = "arms: {a: {}, b: {}, c: {}}\n"

SHOP = """\
format: harness-evaluation/1
tools: {mcp: "python -m acme.orders_server"}
model: {name: some-model, temperature: 0.7}
trials: 5
arms: {now: {}, new: {descriptions: new-descriptions.yaml}}
cases:
  - {ask: "Where is order 7?", expect: {get_order: {id: 7}}, never: [refund_order]}
  - {ask: "Refund it", expect: ask_user}
  - {ask: "Thanks, bye", expect: no_call}
gate: {metric: case_pass_rate, margin: 0.10}
"""


def parsed(body: str) -> Evaluation:
    return parse_evaluation(HEAD + body + ("" if "cases:" in body else ONE), "x.yaml")


def case(body: str) -> Case:
    (only,) = parsed(f"cases:\n  - {body}\n").cases
    return only


def called(*calls: ExpectedCall, order: CallOrder = CallOrder.ANY_ORDER) -> Acceptable:
    return Acceptable(Wanted.CALLS, calls, order)


def test_the_published_example_loads_as_it_stands(tmp_path: Path) -> None:
    tmp_path.joinpath("shop.yaml").write_text(SHOP, "utf-8")
    tmp_path.joinpath("new-descriptions.yaml").write_text("get_order: Call this to find an order.\nget_order.id: Its number.\n", "utf-8")
    value = load_evaluation(tmp_path / "shop.yaml")
    assert (value.id, value.trials, value.execute) == ("shop", 5, Execute.FIRST)
    assert value.sources == (ToolSource(SourceKind.MCP, "python -m acme.orders_server"),)
    assert value.model == ModelSpec("some-model", JsonText('{"temperature":0.7}'))
    assert value.arms == (
        Arm("now"),
        Arm("new", descriptions=(("get_order", "Call this to find an order."),), parameter_descriptions=(("get_order.id", "Its number."),)),
    )
    assert [one.id for one in value.cases] == ["where-is-order-7", "refund-it", "thanks-bye"]
    assert value.cases[0] == Case(
        "where-is-order-7", "Where is order 7?", (called(ExpectedCall("get_order", JsonText('{"id":7}'))),), never=("refund_order",), line=7
    )
    assert [one.accept for one in list(value.cases)[1:]] == [(Acceptable(Wanted.ASK_USER),), (Acceptable(Wanted.NO_CALL),)]
    assert value.gate == GateSpec("now", "new", 0.1)
    assert value.asking == Asking(tool="ask_user")


def test_loading_imports_and_starts_nothing_that_a_document_names(tmp_path: Path) -> None:
    tmp_path.joinpath("myapp.py").write_text("raise SystemExit('imported')\n", "utf-8")
    text = 'format: harness-evaluation/1\ntools: {from: "myapp:registry", mcp: "touch started"}\nmodel: {from: "myapp:answer"}\n' + ONE
    tmp_path.joinpath("x.yaml").write_text(text, "utf-8")
    code = "import sys; from harness.scenarios.evaluation_loading import load_evaluation; load_evaluation('x.yaml'); print('myapp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "False"
    assert not tmp_path.joinpath("started").exists()


# ---------------------------------------------------------------- tools and model


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        pytest.param("{mcp: python server.py}", [ToolSource(SourceKind.MCP, "python server.py")], id="mcp-command"),
        pytest.param("{mcp: {command: c, env: [TOKEN], only: [a], prefix: x_}}", [ToolSource(SourceKind.MCP, "c", only=("a",), prefix="x_", env=("TOKEN",))], id="mcp-in-full"),
        pytest.param("{mcp: {url: 'http://127.0.0.1:9/mcp'}}", [ToolSource(SourceKind.MCP, "http://127.0.0.1:9/mcp")], id="mcp-url"),
        pytest.param("{openapi: openapi.yaml}", [ToolSource(SourceKind.OPENAPI, "openapi.yaml")], id="openapi"),
        pytest.param("{openapi: {path: o.yaml, only: [getOrder], prefix: shop_}}", [ToolSource(SourceKind.OPENAPI, "o.yaml", only=("getOrder",), prefix="shop_")], id="openapi-in-full"),
        pytest.param("{from: 'acme.tools:registry'}", [ToolSource(SourceKind.FROM, "acme.tools:registry")], id="registry"),
        pytest.param("{schemas: tools.yaml}", [ToolSource(SourceKind.SCHEMAS, "tools.yaml")], id="schemas-in-a-file"),
        pytest.param("{schemas: [{name: a}]}", [ToolSource(SourceKind.SCHEMAS, inline=JsonText('[{"description":"","name":"a","parameters":{"properties":{},"type":"object"}}]'))], id="schemas-here"),
        pytest.param("{use: [calculator], mcp: c}", [ToolSource(SourceKind.MCP, "c"), ToolSource(SourceKind.USE, names=("calculator",))], id="two-kinds"),
        pytest.param("[{mcp: b}, {mcp: a}]", [ToolSource(SourceKind.MCP, "b"), ToolSource(SourceKind.MCP, "a")], id="two-of-a-kind"),
    ],
)  # fmt: skip
def test_each_form_of_a_source_gives_its_value(tools: str, expected: list[ToolSource]) -> None:
    assert list(parse_evaluation(f"format: harness-evaluation/1\ntools: {tools}\n{ONE}", "x.yaml").sources) == expected


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        pytest.param("m", ModelSpec("m"), id="name"),
        pytest.param("{name: m, temperature: 0, top_p: 1, seed: 3, max_tokens: 9}", ModelSpec("m", JsonText('{"max_tokens":9,"seed":3,"temperature":0,"top_p":1}')), id="shorthands"),
        pytest.param("{name: m, api: responses, stream: true, profile: p, parameters: {x: 1}}", ModelSpec("m", JsonText('{"x":1}'), ModelApi.RESPONSES, True, "p"), id="in-full"),
    ],
)  # fmt: skip
def test_each_form_of_a_model_gives_its_value(model: str, expected: ModelSpec) -> None:
    assert parsed(f"model: {model}\n").model == expected


def test_a_function_may_answer_in_place_of_a_model() -> None:
    value = parsed("model: {from: 'acme.models:answer'}\n")
    assert (value.model, value.model_from) == (None, "acme.models:answer")


# ---------------------------------------------------------------- cases

GET = ExpectedCall("get", JsonText('{"id":7}'))


@pytest.mark.parametrize(
    ("expect", "accept"),
    [
        pytest.param("no_call", [Acceptable(Wanted.NO_CALL)], id="no-call"),
        pytest.param("ask_user", [Acceptable(Wanted.ASK_USER)], id="ask-user"),
        pytest.param("get", [called(ExpectedCall("get"))], id="name-alone-any-arguments"),
        pytest.param("{get: {}}", [called(ExpectedCall("get", JsonText("{}")))], id="no-arguments"),
        pytest.param("{get: {id: 7}}", [called(GET)], id="arguments"),
        pytest.param("{get: {id: {$regex: '7'}}}", [called(ExpectedCall("get", JsonText('{"id":{"$regex":"7"}}')))], id="matcher"),
        pytest.param("[{get: {id: 7}}, get]", [called(GET, ExpectedCall("get"))], id="several-in-any-order"),
        pytest.param("{in-order: [get, {get: {id: 7}}]}", [called(ExpectedCall("get"), GET, order=CallOrder.IN_ORDER)], id="in-order"),
        pytest.param("{superset: [get]}", [called(ExpectedCall("get"), order=CallOrder.SUPERSET)], id="superset"),
        pytest.param("[get, ask_user]", [called(ExpectedCall("get"), ExpectedCall("ask_user"))], id="a-question-among-calls"),
        pytest.param("{in-order: [get, ask_user]}", [called(ExpectedCall("get"), ExpectedCall("ask_user"), order=CallOrder.IN_ORDER)], id="a-question-in-order"),
        pytest.param("{any-order: [ask_user, get]}", [called(ExpectedCall("ask_user"), ExpectedCall("get"))], id="a-question-in-any-order"),
        pytest.param("{any_of: [ask_user, [ask_user, get]]}",
                     [Acceptable(Wanted.ASK_USER), called(ExpectedCall("ask_user"), ExpectedCall("get"))], id="a-question-alone-or-with-a-call"),
        pytest.param("[ask_user]", [called(ExpectedCall("ask_user"))], id="a-question-as-the-only-call"),
        pytest.param("{subset: {id: 7}}", [called(ExpectedCall("subset", JsonText('{"id":7}')))], id="a-tool-called-subset"),
        pytest.param("{any_of: [{get: {id: 7}}, ask_user, [a, b], {exact: [a]}]}",
                     [called(GET), Acceptable(Wanted.ASK_USER), called(ExpectedCall("a"), ExpectedCall("b")), called(ExpectedCall("a"), order=CallOrder.EXACT)], id="several-right-answers"),
        pytest.param("{any_of: {id: 7}}", [called(ExpectedCall("any_of", JsonText('{"id":7}')))], id="a-tool-called-any-of"),
    ],
)  # fmt: skip
def test_each_form_of_an_expectation_gives_its_value(expect: str, accept: list[Acceptable]) -> None:
    assert list(case(f"{{ask: x, expect: {expect}}}").accept) == accept


@pytest.mark.parametrize(
    ("asking", "expect"),
    [
        pytest.param("", "[get, ask_user]", id="by-default"),
        pytest.param("", "{in-order: [get, {ask_user: {about: id}}]}", id="with-arguments"),
        pytest.param("ask_user: {tool: ask}\n", "[get, ask]", id="by-another-name"),
    ],
)
def test_the_tool_that_asks_is_expected_also_where_a_case_narrows_its_tools(asking: str, expect: str) -> None:
    (only,) = parsed(asking + "cases:\n  - {ask: x, tools: [get], expect: " + expect + "}\n").cases
    assert next(call.name for call in only.accept[0].calls) == "get"
    assert only.tools == ("get",)


def test_every_field_of_a_case_reaches_its_value() -> None:
    value = parsed(
        "stubs: {get: {returns: 1}}\n"
        "cases:\n"
        "  - {ask: x, expect: get, id: c, never: [a], tags: [t], group: g, split: held-out, system: s, tools: [get, a], answer: {contains: '4'}}\n"
    )
    assert value.cases[0] == Case(
        "c", "x", (called(ExpectedCall("get")),), (), ("a",), ("t",), "g", Split.HELD_OUT, "s", ("get", "a"), JsonText('{"$contains":"4"}'), 5
    )


def test_a_history_becomes_messages_whose_calls_and_results_fit() -> None:
    history = case(
        "{ask: x, expect: no_call, history: [{system: s}, {user: u}, {assistant: text, calls: [now, {get: {id: 7}}, {name: get, arguments: '{bad', id: mine}]},"
        " {tool: {late: true}, call: mine}, {tool: first}, {tool: [1, 文]}, {developer: d}, {calls: [get: {id: 8}]}, {tool: null}, {assistant: done}]}"
    ).history
    assert history == (
        ChatSystem(content="s"),
        ChatUser(content="u"),
        ChatAssistant(content="text", tool_calls=(ChatCall("call_1", "now", "{}"), ChatCall("call_2", "get", '{"id":7}'), ChatCall("mine", "get", "{bad"))),
        ChatTool(call_id="mine", content='{"late":true}'),
        ChatTool(call_id="call_1", content="first"),
        ChatTool(call_id="call_2", content='[1,"文"]'),
        ChatDeveloper(content="d"),
        ChatAssistant(content=None, tool_calls=(ChatCall("call_4", "get", '{"id":8}'),)),
        ChatTool(call_id="call_4", content="null"),
        ChatAssistant(content="done"),
    )  # fmt: skip


def test_a_case_may_go_on_behind_a_tools_result_without_a_question() -> None:
    only = case("{expect: no_call, history: [{user: Where is it?}, {calls: [get]}, {tool: there}]}")
    assert (only.id, only.ask, len(only.history)) == ("where-is-it", "", 3)


@pytest.mark.parametrize(
    ("bodies", "ids"),
    [
        pytest.param(["{ask: 'Where is order 7?', expect: no_call}"], ["where-is-order-7"], id="words-of-the-question"),
        pytest.param(["{ask: a, expect: no_call}"] * 3, ["a", "a-2", "a-3"], id="numbered"),
        pytest.param(["{ask: a, expect: no_call}", "{ask: a, id: a, expect: no_call}"], ["a-2", "a"], id="a-given-id-stays"),
        pytest.param(["{ask: a, expect: no_call}", "{ask: a, expect: get}", "{ask: a 2, expect: no_call}"], ["a", "a-3", "a-2"], id="a-number-that-is-taken"),
        pytest.param(["{ask: 上海天气怎么样, expect: no_call}"], ["上海天气怎么样"], id="other-scripts"),
        pytest.param(["{ask: '?!', expect: no_call}", "{ask: '...', expect: no_call}"], ["case", "case-2"], id="no-words"),
        pytest.param(["{ask: " + "long " * 40 + ", expect: no_call}"], ["-".join(["long"] * 9)], id="cut-at-a-word"),
        pytest.param(["{ask: 'In {c}', each: [{c: Oslo}, {c: Rio}], expect: no_call}"], ["in-oslo", "in-rio"], id="rows"),
        pytest.param(["{ask: 'In {c}', id: w, each: [{c: Oslo}, {c: Rio}], expect: no_call}"], ["w-1", "w-2"], id="rows-of-an-id"),
        pytest.param(["{ask: 'In {c}', id: 'w-{c}', each: [{c: Oslo}, {c: Rio}], expect: no_call}"], ["w-Oslo", "w-Rio"], id="an-id-with-places"),
    ],
)  # fmt: skip
def test_ids_are_stable_and_unique(bodies: list[str], ids: list[str]) -> None:
    value = parsed("cases:\n" + "".join(f"  - {body}\n" for body in bodies))
    assert [one.id for one in value.cases] == ids
    assert [value.cases[at].id for at in range(len(ids))] == ids


def test_an_id_does_not_move_when_a_case_is_put_before_it() -> None:
    before = {one.ask: one.id for one in parsed("cases: [{ask: one, expect: no_call}, {ask: two, expect: no_call}]\n").cases}
    after = {one.ask: one.id for one in parsed("cases: [{ask: new, expect: no_call}, {ask: one, expect: no_call}, {ask: two, expect: no_call}]\n").cases}
    assert before.items() <= after.items()


# ---------------------------------------------------------------- templates


def rows(body: str) -> list[Case]:
    return list(parsed(f"cases:\n  - {body}\n").cases)


def test_rows_of_a_template_are_cases_of_one_group() -> None:
    made = rows("{ask: 'Weather in {city}?', each: [{city: Oslo}, {city: Lima}], expect: {weather: {city: '{city}'}}}")
    assert [one.ask for one in made] == ["Weather in Oslo?", "Weather in Lima?"]
    assert [one.accept[0].calls[0].arguments for one in made] == ['{"city":"Oslo"}', '{"city":"Lima"}']
    assert {one.group for one in made} == {"weather-in-city"}


@pytest.mark.parametrize(
    ("value", "text", "alone"),
    [
        pytest.param("7", "n 7", "7", id="number"),
        pytest.param("'7'", "n 7", '"7"', id="text-that-looks-like-a-number"),
        pytest.param("true", "n true", "true", id="truth"),
        pytest.param("1.5", "n 1.5", "1.5", id="fraction"),
        pytest.param("[1, a]", 'n [1,"a"]', '[1,"a"]', id="list"),
        pytest.param("{k: 1}", 'n {"k":1}', '{"k":1}', id="mapping"),
    ],
)
def test_a_value_keeps_its_type_where_it_stands_alone(value: str, text: str, alone: str) -> None:
    (only,) = rows(f"{{ask: 'n {{v}}', each: [{{v: {value}}}], expect: {{get: {{x: '{{v}}'}}}}}}")
    assert (only.ask, only.accept[0].calls[0].arguments) == (text, f'{{"x":{alone}}}')


def test_places_may_be_anywhere_in_a_template() -> None:
    (only,) = rows(
        "{ask: '{q}', each: [{q: ask, tool: get, arg: id, n: 7, all: {get: {id: 7}}}], expect: {any_of: ['{all}', {'{tool}': {'{arg}': {$near: {value: '{n}'}}}}]},"
        " history: [{user: '{q}'}, {calls: ['{tool}': {n: '{n}'}]}, {tool: '{all}'}], never: ['no_{tool}'], tags: ['{tool}'], group: 'g-{tool}', system: 'S {q} {{n}}'}"
    )
    assert only.accept == (called(GET), called(ExpectedCall("get", JsonText('{"id":{"$near":{"value":7}}}'))))
    assert only.history[1:] == (ChatAssistant(tool_calls=(ChatCall("call_1", "get", '{"n":7}'),)), ChatTool(call_id="call_1", content='{"get":{"id":7}}'))
    assert (only.never, only.tags, only.group, only.system) == (("no_get",), ("get",), "g-get", "S ask {n}")


# ---------------------------------------------------------------- arms, gate, running


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param("{}", Arm("x"), id="nothing"),
        pytest.param("{system: ''}", Arm("x", system=""), id="no-system-prompt"),
        pytest.param("{descriptions: {b: B, a: A, a.x: X, a.x.y: Y}}", Arm("x", descriptions=(("a", "A"), ("b", "B")), parameter_descriptions=(("a.x", "X"), ("a.x.y", "Y"))), id="descriptions"),
        pytest.param("{rename: {b: c, a: b}}", Arm("x", rename=(("a", "b"), ("b", "c"))), id="rename"),
        pytest.param("{tool_choice: required}", Arm("x", tool_choice=JsonText('"required"')), id="tool-choice"),
        pytest.param("{tool_choice: {tool: a}}", Arm("x", tool_choice=JsonText('{"function":{"name":"a"},"type":"function"}')), id="tool-by-name"),
        pytest.param("{order: shuffled}", Arm("x", order=ToolOrder.SHUFFLED), id="order"),
        pytest.param("{distractors: 2}", Arm("x", distractors=2), id="distractors"),
        pytest.param("{history_turns: 1}", Arm("x", history_turns=1), id="history"),
        pytest.param("{inject: 'Ignore this'}", Arm("x", inject="Ignore this"), id="inject"),
        pytest.param("{offer_tools: false}", Arm("x", offer_tools=False), id="no-tools"),
        pytest.param("{model: other}", Arm("x", model=ModelSpec("other", JsonText('{"temperature":0.7}'), ModelApi.RESPONSES)), id="another-model-same-parameters"),
        pytest.param("{model: {temperature: 0, parameters: {seed: 1}, api: chat}}", Arm("x", model=ModelSpec("m", JsonText('{"seed":1,"temperature":0}'), ModelApi.CHAT)), id="another-temperature"),
    ],
)  # fmt: skip
@pytest.mark.article("38")
def test_each_factor_of_an_arm_reaches_its_value(fields: str, expected: Arm) -> None:
    value = parsed(f"model: {{name: m, temperature: 0.7, api: responses}}\ndistractor_tools: {{schemas: many.yaml}}\npadding: [{{user: u}}]\narms: {{x: {fields}}}\n")
    assert value.arms == (expected,)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(TWO + "gate: {margin: 0.1}\n", GateSpec("now", "new", 0.1), id="first-and-last-of-two"),
        pytest.param(TWO + "gate: {margin: 0.1, base: new}\n", GateSpec("new", "now", 0.1), id="the-other-of-two"),
        pytest.param(TWO + "gate: {margin: 0.1, candidate: now}\n", GateSpec("new", "now", 0.1), id="the-base-that-is-left"),
        pytest.param(THREE + "trials: 4\ngate: {margin: 0.2, base: b, candidate: c, metric: pass_hat_k, estimand: these cases, alpha: 0.1, looks: 3, split: dev}\n",
                     GateSpec("b", "c", 0.2, Metric.PASS_HAT_K, Estimand.THESE_CASES, 0.1, 3, Split.DEV), id="in-full"),
        pytest.param("", None, id="none"),
    ],
)  # fmt: skip
def test_each_form_of_a_gate_gives_its_value(body: str, expected: GateSpec | None) -> None:
    assert parsed(body).gate == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("", Execute.FIRST, id="nothing-said"),
        pytest.param("execute: false\n", Execute.FIRST, id="false"),
        pytest.param("execute: first-decision\n", Execute.FIRST, id="first"),
        pytest.param("execute: true\n", Execute.TOOLS, id="true"),
        pytest.param("stubs: {a: {returns: 1}}\n", Execute.STUBS, id="stubs-given"),
        pytest.param("execute: true\nstubs: {a: {returns: 1}}\n", Execute.TOOLS, id="real-but-for-stubs"),
    ],
)
def test_tools_run_only_where_somebody_asked_for_it(body: str, expected: Execute) -> None:
    assert parsed(body).execute is expected


def test_the_other_fields_reach_their_values() -> None:
    value = parsed(
        "id: e\ntitle: T\nsystem: S\ntrials: 3\nseed: 9\nstubs: {a: {returns: {x: 1}}}\nlimits: {steps: 4}\nask_user: {field: status, value: need_input}\n"
        "distractor_tools: {schemas: many.yaml}\npadding: [{user: u}, {calls: [a]}, {tool: r}]\n"
        "running: {at_once: 2, requests_per_minute: 30, tokens_per_minute: 900, max_tokens: 1000, max_cost_usd: 1.25, retries: 0}\n"
    )
    assert (value.id, value.title, value.system, value.trials, value.seed, value.source) == ("e", "T", "S", 3, 9, "x.yaml")
    assert (value.stubs, value.limits) == ((("a", Stub(returns=JsonText('{"x":1}'))),), Limits(steps=4))
    assert value.asking == Asking(field="status", value=JsonText('"need_input"'))
    assert value.distractor_tools == (ToolSource(SourceKind.SCHEMAS, "many.yaml"),)
    assert value.padding == (ChatUser(content="u"), ChatAssistant(tool_calls=(ChatCall("earlier_1", "a", "{}"),)), ChatTool(call_id="earlier_1", content="r"))
    assert value.running == Running(2, 30, 900, 1000, 1_250_000, 0)


def test_a_benchmarks_own_rules_and_records_are_kept() -> None:
    value = parsed("grading: bfcl\ncases: [{ask: a, expect: b, bfcl: {truth: [{b: {x: [1, '']}}]}}]\n")
    assert (value.grading, value.cases[0].bfcl) == (Grading.BFCL, '{"truth":[{"b":{"x":[1,""]}}]}')


def test_a_case_may_keep_a_system_prompt_of_its_own_beside_an_arm_with_another() -> None:
    value = parsed(TWO + "cases: [{ask: a, expect: b, system: mine}, {ask: c, expect: b}]\n")
    assert [one.system for one in value.cases] == ["mine", None]


def test_without_arms_there_is_one_that_changes_nothing() -> None:
    assert parsed("").arms == (Arm("base"),)


def test_the_python_form_is_equal_to_the_document() -> None:
    made = evaluation(id="x", tools={"use": ("calculator",)}, cases=({"ask": "a", "expect": "no_call"},), arms={"now": {}, "new": {"system": "s"}}, gate={"margin": 0.1})
    read = parsed(TWO + "gate: {margin: 0.1}\n")
    assert (made.digest, made.arms, made.gate, made.cases) == (read.digest, read.arms, read.gate, read.cases)
    assert made.cases[0].line is None


# ---------------------------------------------------------------- what is refused

CASE = "cases:\n  - "
BAD: list[Any] = [
    pytest.param("systme: x\n", 3, "systme", ("did you mean 'system'",), id="typo"),
    pytest.param("trials: 0\n", 3, "trials", ("at least 1",), id="no-trials"),
    pytest.param("seed: -1\n", 3, "seed", ("at least 0",), id="negative-seed"),
    pytest.param("cases: []\n", 3, "cases", ("must not be empty",), id="no-cases"),
    pytest.param("cases: 7\n", 3, "cases", ("a list of cases, or {from",), id="cases-that-are-a-number"),
    pytest.param("cases: [text]\n", 3, "cases[0]", ("must be a case",), id="case-that-is-text"),
    pytest.param("cases: {from: nowhere.jsonl}\n", None, "", ("nowhere.jsonl", "cannot be read"), id="no-such-file"),
    pytest.param("model: 7\n", 3, "model", ("a model's name",), id="model-that-is-a-number"),
    pytest.param("model: {temperature: 1}\n", 3, "model", ("needs 'name' or 'from', has neither",), id="model-without-a-name"),
    pytest.param("model: {name: m, from: 'a:b'}\n", 3, "model", ("has both",), id="two-models"),
    pytest.param("model: {from: 'a:b', temperature: 1}\n", 3, "model.temperature", ("names a function",), id="temperature-of-a-function"),
    pytest.param("model: {name: m, temprature: 1}\n", 3, "model.temprature", ("did you mean 'temperature'",), id="typo-in-the-model"),
    pytest.param("model: {name: m, temperature: 1, parameters: {temperature: 0}}\n", 3, "model.temperature", ("give it once",), id="temperature-twice"),
    pytest.param("model: {name: m, parameters: {tools: []}}\n", 3, "model.parameters", ("no parameter",), id="tools-as-parameter"),
    pytest.param("execute: maybe\n", 3, "execute", ("unknown value 'maybe'", "first-decision"), id="unknown-execute"),
    pytest.param("execute: first-decision\nstubs: {a: {returns: 1}}\n", 4, "stubs", ("nothing runs",), id="stubs-of-what-does-not-run"),
    pytest.param("execute: stubs\n", 3, "execute", ("needs 'stubs'",), id="stubs-without-stubs"),
    pytest.param("limits: {steps: 3}\n", 3, "limits", ("one decision is judged",), id="limits-of-one-decision"),
    pytest.param("execute: true\nlimits: {max_steps: 3}\n", 4, "limits.max_steps", ("did you mean", "steps"), id="limits-have-their-own-names"),
    pytest.param("ask_user: {}\n", 3, "ask_user", ("needs {tool: name}",), id="asking-nothing"),
    pytest.param("ask_user: {field: status}\n", 3, "ask_user", ("needs {tool: name}, or {field: name, value",), id="field-without-value"),
    pytest.param("ask_user: {tool: a, field: status, value: x}\n", 3, "ask_user", ("needs {tool: name}",), id="asking-in-two-ways"),
    pytest.param("padding: [{assistant: a}]\n", 3, "padding", ("begin with a user's message",), id="padding-without-a-user"),
    pytest.param("padding: [{user: a}, {calls: [b]}]\n", 3, "padding[1]", ("leaves 'b' without an answer",), id="padding-with-an-open-call"),
    pytest.param("running: {at_once: 0}\n", 3, "running.at_once", ("at least 1",), id="none-at-once"),
    pytest.param("running: {max_cost_usd: 0}\n", 3, "running.max_cost_usd", ("above 0",), id="costs-nothing"),
    # arms
    pytest.param("arms: {}\n", 3, "arms", ("must not be empty",), id="no-arms"),
    pytest.param("arms: {'a b': {}}\n", 3, "arms.a b", ("no name of an arm",), id="arm-name"),
    pytest.param("arms: {a: {sytem: x}}\n", 3, "arms.a.sytem", ("did you mean 'system'",), id="typo-in-an-arm"),
    pytest.param("arms: {a: {tool_choice: requird}}\n", 3, "arms.a.tool_choice", ("did you mean 'required'", "{tool: requird}"), id="unknown-tool-choice"),
    pytest.param("arms: {a: {order: random}}\n", 3, "arms.a.order", ("shuffled",), id="unknown-order-of-tools"),
    pytest.param("arms: {a: {rename: {x: 'new name'}}}\n", 3, "arms.a.rename.x", ("refused by providers",), id="name-that-providers-refuse"),
    pytest.param("arms: {a: {rename: {x: z, y: z}}}\n", 3, "arms.a.rename", ("two tools the name 'z'",), id="two-of-one-name"),
    pytest.param("arms: {a: {offer_tools: false, order: reversed}}\n", 3, "arms.a.order", ("no tools are offered",), id="order-of-nothing"),
    pytest.param("arms: {a: {offer_tools: false, tool_choice: required}}\n", 3, "arms.a.tool_choice", ("no tools are offered",), id="choice-of-nothing"),
    pytest.param("arms: {a: {distractors: 3}}\n", 3, "arms.a.distractors", ("give 'distractor_tools'",), id="no-distractors"),
    pytest.param("arms: {a: {distractors: 0}}\n", 3, "arms.a.distractors", ("at least 1",), id="zero-distractors"),
    pytest.param("padding: [{user: a}]\narms: {a: {history_turns: 2}}\n", 4, "arms.a.history_turns", ("asks for 2 turns, and 'padding' has 1",), id="too-little-padding"),
    pytest.param("arms: {a: {model: {temperature: 0}}}\n", 3, "arms.a.model.name", ("the evaluation names no model",), id="parameters-of-no-model"),
    pytest.param("arms: {a: {descriptions: nowhere.yaml}}\n", None, "", ("nowhere.yaml", "cannot be read"), id="no-such-descriptions"),
    pytest.param("arms: {a: {descriptions: {t: 7}}}\n", 3, "arms.a.descriptions.t", ("must be text",), id="description-that-is-a-number"),
    pytest.param("arms: {a: {inject: ''}}\n", 3, "arms.a.inject", ("must not be empty",), id="inject-nothing"),
    # the gate
    pytest.param(TWO + "gate: {}\n", 4, "gate.margin", ("is required",), id="gate-without-margin"),
    pytest.param(TWO + "gate: {margin: 0}\n", 4, "gate.margin", ("above 0 and below 1",), id="margin-0"),
    pytest.param(TWO + "gate: {margin: 1}\n", 4, "gate.margin", ("above 0 and below 1",), id="margin-1"),
    pytest.param(TWO + "gate: {margin: 1.0e-300}\n", 4, "gate.margin", ("above 0 and below 1 (by 0.0001", "is 1e-300"), id="margin-that-all-miss"),
    pytest.param(TWO + "gate: {margin: 0.99999}\n", 4, "gate.margin", ("above 0 and below 1 (by 0.0001",), id="margin-that-none-misses"),
    pytest.param(TWO + "gate: {margin: 0.1, alpha: 1.0e-300}\n", 4, "gate.alpha", ("by 0.000001 at least", "is 1e-300"), id="alpha-that-is-none"),
    pytest.param(TWO + "gate: {metric: foo, margin: 0.1}\n", 4, "gate.metric", ("there are 'case_pass_rate', 'pass_hat_k'",), id="words-not-classes"),
    pytest.param("id: ../../../zz\n", 3, "id", ("is no path of names below a folder",), id="id-that-climbs"),
    pytest.param("id: /tmp/zz\n", 3, "id", ("is no path of names below a folder",), id="id-from-the-root"),
    pytest.param("id: a//b\n", 3, "id", ("is no path of names below a folder",), id="id-with-an-empty-part"),
    pytest.param("arms: {A: {}, a: {system: s}}\n", 3, "arms.a", ("differs from 'A' in case alone",), id="arms-alike-but-for-case"),
    pytest.param(TWO + "gate: {margin: -0.1}\n", 4, "gate.margin", ("at least 0, is -0.1",), id="margin-below-0"),
    pytest.param(TWO + "gate: {margin: 10%}\n", 4, "gate.margin", ("10%",), id="margin-in-percent"),
    pytest.param(TWO + "gate: {margin: 0.1, alpha: 0}\n", 4, "gate.alpha", ("above 0",), id="alpha-0"),
    pytest.param(TWO + "gate: {margin: 0.1, metric: accuracy}\n", 4, "gate.metric", ("case_pass_rate",), id="unknown-metric"),
    pytest.param(TWO + "gate: {margin: 0.1, estimand: all}\n", 4, "gate.estimand", ("prompts like these",), id="unknown-estimand"),
    pytest.param(TWO + "gate: {margin: 0.1, base: old}\n", 4, "gate.base", ("no arm 'old'", "now"), id="unknown-base"),
    pytest.param(TWO + "gate: {margin: 0.1, candidate: newer}\n", 4, "gate.candidate", ("did you mean 'new'",), id="unknown-candidate"),
    pytest.param(TWO + "gate: {margin: 0.1, base: now, candidate: now}\n", 4, "gate.candidate", ("with itself",), id="base-is-candidate"),
    pytest.param("gate: {margin: 0.1}\n", 3, "gate", ("compares two arms, and there is 1",), id="gate-of-one-arm"),
    pytest.param(THREE + "gate: {margin: 0.1}\n", 4, "gate.base", ("is needed with 3 arms",), id="gate-of-three-arms"),
    pytest.param(THREE + "gate: {margin: 0.1, base: a}\n", 4, "gate.candidate", ("is needed with 3 arms",), id="gate-with-half-its-names"),
    pytest.param(TWO + "trials: 2\ngate: {margin: 0.1, looks: 3}\n", 5, "gate.looks", ("at most 'trials'",), id="more-looks-than-blocks"),
    pytest.param(TWO + "gate: {margin: 0.1, split: held-out}\n", 4, "gate.split", ("no case is in 'held-out'",), id="gate-of-no-case"),
    # cases
    pytest.param(CASE + "{ask: a}\n", 4, "cases[0].expect", ("is required",), id="case-without-expectation"),
    pytest.param(CASE + "{expect: no_call}\n", 4, "cases[0].ask", ("is required", "unless the history ends"), id="case-without-a-question"),
    pytest.param(CASE + "{ask: ' ', expect: no_call}\n", 4, "cases[0].ask", ("must not be empty",), id="blank-question"),
    pytest.param(CASE + "{expect: no_call, history: [{user: a}, {assistant: b}]}\n", 4, "cases[0].ask", ("is required",), id="nothing-asked-behind-an-answer"),
    pytest.param(CASE + "{ask: a, expct: no_call}\n", 4, "cases[0].expct", ("did you mean 'expect'",), id="typo-in-a-case"),
    pytest.param(CASE + "{ask: a, expect: []}\n", 4, "cases[0].expect", ("write no_call",), id="expect-nothing"),
    pytest.param(CASE + "{ask: a, expect: {}}\n", 4, "cases[0].expect", ("must be a tool's name",), id="expect-an-empty-mapping"),
    pytest.param(CASE + "{ask: a, expect: 7}\n", 4, "cases[0].expect", ("must be a tool's name",), id="expect-a-number"),
    pytest.param(CASE + "{ask: a, expect: {a: {}, b: {}}}\n", 4, "cases[0].expect", ("write a list",), id="two-calls-in-one"),
    pytest.param(CASE + "{ask: a, expect: {a: 7}}\n", 4, "cases[0].expect.a", ("arguments must be a mapping",), id="arguments-that-are-a-number"),
    pytest.param(CASE + "{ask: a, expect: {a: null}}\n", 4, "cases[0].expect.a", ("just the name",), id="arguments-of-null"),
    pytest.param(CASE + "{ask: a, expect: {inorder: [a]}}\n", 4, "cases[0].expect.inorder", ("did you mean 'in-order'",), id="unknown-order"),
    pytest.param(CASE + "{ask: a, expect: {in-order: []}}\n", 4, "cases[0].expect.in-order", ("must not be empty",), id="order-of-nothing-expected"),
    pytest.param(CASE + "{ask: a, expect: [a, no_call]}\n", 4, "cases[0].expect[1]", ("is no call",), id="no-call-among-calls"),
    pytest.param(CASE + "{ask: a, expect: [a, 7]}\n", 4, "cases[0].expect[1]", ("must be a tool's name",), id="number-among-calls"),
    pytest.param(CASE + "{ask: a, expect: {any_of: []}}\n", 4, "cases[0].expect.any_of", ("must not be empty",), id="any-of-nothing"),
    pytest.param(CASE + "{ask: a, expect: {any_of: [a, b], c: {}}}\n", 4, "cases[0].expect", ("'any_of' stands alone",), id="any-of-beside-others"),
    pytest.param(CASE + "{ask: a, expect: {any_of: [a, a]}}\n", 4, "cases[0].expect.any_of[1]", ("the same twice",), id="any-of-the-same"),
    pytest.param(CASE + "{ask: a, expect: {any_of: [a, {any_of: [b]}]}}\n", 4, "cases[0].expect.any_of[1].any_of", ("unknown order",), id="any-of-in-any-of"),
    pytest.param(CASE + "{ask: a, expect: {a: {x: {$nera: 1}}}}\n", 4, "cases[0].expect.a", ("is no matcher", "$nera"), id="unknown-matcher"),
    pytest.param(CASE + "{ask: a, expect: {in-order: [b, a: {x: {$regex: '('}}]}}\n", 4, "cases[0].expect.in-order[1].a", ("is no matcher",), id="bad-matcher"),
    pytest.param(CASE + "{ask: a, expect: b, never: [b]}\n", 4, "cases[0].never", ("forbids 'b'",), id="never-what-is-expected"),
    pytest.param(CASE + "{ask: a, expect: b, never: [c, c]}\n", 4, "cases[0].never", ("'c' twice",), id="never-twice"),
    pytest.param(CASE + "{ask: a, expect: ask_user, never: [ask_user]}\n", 4, "never", ("forbids 'ask_user'", "'expect' wants"), id="never-ask-where-asking-is-expected"),
    pytest.param(CASE + "{ask: a, expect: {any_of: [b, ask_user]}, never: [c, ask_user]}\n", 4, "never", ("forbids 'ask_user'",), id="never-ask-where-asking-is-one-way"),
    pytest.param("ask_user: {tool: ask}\n" + CASE + "{ask: a, expect: ask_user, never: [ask]}\n", 5, "never", ("forbids 'ask'", "asked"), id="never-the-tool-that-asks"),
    pytest.param(CASE + "{ask: a, expect: b, tools: [c]}\n", 4, "tools", ("does not offer 'b'",), id="expected-and-not-offered"),
    pytest.param("ask_user: {tool: ask}\n" + CASE + "{ask: a, expect: [b, ask_user]}\n", 5, "expect", ("call it 'ask'",), id="the-word-for-a-tool-of-another-name"),
    pytest.param("ask_user: {field: s, value: x}\n" + CASE + "{ask: a, expect: {in-order: [b, ask_user]}}\n", 5, "expect", ("status of the answer",), id="a-status-among-calls"),
    pytest.param(CASE + "{ask: a, expect: b, split: test}\n", 4, "cases[0].split", ("held-out",), id="unknown-split"),
    pytest.param(CASE + "{ask: a, expect: b, answer: {contains: x}}\n", 4, "answer", ("whole loop",), id="answer-of-one-decision"),
    pytest.param(CASE + "{ask: a, expect: b, answer: {containz: x}}\n", 4, "cases[0].answer.containz", ("did you mean 'contains'",), id="typo-in-the-answer"),
    pytest.param(TWO + CASE + "{ask: a, expect: b, system: mine}\n", 3, "arms.new.system", ("every case has a system prompt of its own",), id="system-that-changes-nothing"),
    pytest.param(CASE + "{ask: a, expect: b, bfcl: {x: 1}}\n", 4, "bfcl", ("graded by nobody", "'grading: matchers'"), id="record-without-its-rules"),
    pytest.param("grading: bfcl\n" + CASE + "{ask: a, expect: b}\n", 5, "bfcl", ("has no record of the benchmark",), id="rules-without-a-record"),
    pytest.param("grading: model\n", 3, "grading", ("bfcl",), id="unknown-grading"),
    pytest.param(CASE + "{ask: a, id: x, expect: b}\n  - {ask: b, id: x, expect: b}\n", 5, "id", ("'x' is taken by x.yaml:4",), id="id-twice"),
    pytest.param(CASE + "{ask: a, group: g, expect: b}\n  - {ask: b, group: g, split: held-out, expect: b}\n", 5, "split", ("group 'g' is in both splits", "x.yaml:4"), id="group-in-two-splits"),
    pytest.param(CASE + "{ask: a, id: g, expect: b}\n  - {ask: b, group: g, expect: b}\n", 5, "group", ("called like the case of x.yaml:4",), id="group-called-like-a-case"),
    # histories
    pytest.param(CASE + "{ask: a, expect: b, history: [{usr: x}]}\n", 4, "cases[0].history[0]", ("{user: …}",), id="unknown-role"),
    pytest.param(CASE + "{ask: a, expect: b, history: [{user: x, name: y}]}\n", 4, "cases[0].history[0].name", ("unknown field 'name'",), id="unknown-field-of-a-message"),
    pytest.param(CASE + "{ask: a, expect: b, history: [{calls: []}]}\n", 4, "cases[0].history[0].calls", ("must not be empty",), id="calls-of-nothing"),
    pytest.param(CASE + "{ask: a, expect: b, history: [{calls: [b]}]}\n", 4, "cases[0].history[0]", ("leaves 'b' without an answer",), id="unanswered-at-the-end"),
    pytest.param(CASE + "{ask: a, expect: b, history: [{calls: [b, c]}, {tool: x}, {user: y}]}\n", 4, "cases[0].history[1]", ("leaves 'c' without an answer",), id="unanswered-before-the-user"),
    pytest.param(CASE + "{ask: a, expect: b, history: [{tool: x}]}\n", 4, "cases[0].history[0]", ("answers no call",), id="result-without-a-call"),
    pytest.param(CASE + "{ask: a, expect: b, history: [{calls: [b]}, {tool: x}, {tool: y}]}\n", 4, "cases[0].history[2]", ("answers no call",), id="result-too-many"),
    pytest.param(CASE + "{ask: a, expect: b, history: [{calls: [b]}, {tool: x, call: c9}]}\n", 4, "cases[0].history[1].call", ("answers 'c9'; open are 'call_1'",), id="result-of-an-unknown-call"),
    pytest.param(CASE + "{ask: a, expect: b, history: [{calls: [{name: b, id: i}, {name: b, id: i}]}, {tool: x}, {tool: y}]}\n", 4, "cases[0].history[0]", ("'i' of an earlier call",), id="id-of-a-call-twice"),
    # templates
    pytest.param(CASE + "{ask: '{c}', each: [], expect: b}\n", 4, "cases[0].each", ("must not be empty",), id="no-rows"),
    pytest.param(CASE + "{ask: '{c}', each: [{}], expect: b}\n", 4, "cases[0].each[0]", ("must not be empty",), id="empty-row"),
    pytest.param(CASE + "{ask: '{town}', each: [{city: x}], expect: b}\n", 4, "cases[0].ask", ("{town} has no value in row 1", "{{town}}"), id="place-without-a-value"),
    pytest.param(CASE + "{ask: '{c}', each: [{c: x, d: y}], expect: b}\n", 4, "cases[0].each[0].d", ("used nowhere",), id="value-without-a-place"),
    pytest.param(CASE + "{ask: '{c}', each: [{c: x}, {c: 7}], expect: b}\n", 4, "cases[0].ask", ("must be text", "row 2"), id="number-as-a-question"),
    pytest.param(CASE + "{ask: a, each: [{c: x}], expect: {b: {x: {$regex: '{c}('}}}}\n", 4, "cases[0].expect.b", ("is no matcher", "row 1"), id="matcher-of-a-row"),
    pytest.param(CASE + "{ask: '{c}', each: [{c: x}, {c: x}], expect: b}\n", 4, "cases[0].each[1]", ("same case",), id="rows-of-one-case"),
    pytest.param(CASE + "{ask: '{c}', ech: [{c: x}], expect: b}\n", 4, "cases[0].ech", ("did you mean",), id="typo-in-each"),
    pytest.param(CASE + "{ask: '{c}', each: [{c: x}], exct: b}\n", 4, "cases[0].exct", ("unknown field",), id="typo-in-a-template"),
    pytest.param(CASE + "{ask: a, each: [{c: 7}], expect: {'{c}': {}}}\n", 4, "cases[0].expect.{c}", ("is a name",), id="number-as-a-name"),
]  # fmt: skip
BAD_TOOLS: list[Any] = [
    pytest.param("tools: {}\n", "tools", ("names no tools",), id="no-source"),
    pytest.param("tools: []\n", "tools", ("must not be empty",), id="no-sources"),
    pytest.param("tools: calculator\n", "tools", ("a source such as {mcp: …}",), id="tools-that-are-text"),
    pytest.param("tools: {mpc: x}\n", "tools.mpc", ("did you mean 'mcp'",), id="typo-in-a-source"),
    pytest.param("tools: {mcp: {env: [A]}}\n", "tools.mcp", ("needs 'command' or 'url', has neither",), id="server-of-nothing"),
    pytest.param("tools: {mcp: {command: a, url: 'http://x'}}\n", "tools.mcp", ("command and url",), id="two-servers"),
    pytest.param("tools: {mcp: {url: x}}\n", "tools.mcp.url", ("begins with http://",), id="no-url"),
    pytest.param("tools: {mcp: {command: 'http://x'}}\n", "tools.mcp.command", ("write it as 'url'",), id="url-as-a-command"),
    pytest.param("tools: {mcp: {url: 'http://x', env: [A]}}\n", "tools.mcp.env", ("nothing is started",), id="environment-of-a-url"),
    pytest.param("tools: {openapi: {paht: x}}\n", "tools.openapi.paht", ("did you mean 'path'",), id="typo-in-openapi"),
    pytest.param("tools: {openapi: {path: x, only: []}}\n", "tools.openapi.only", ("must not be empty",), id="only-nothing"),
    pytest.param("tools: {from: registry}\n", "tools.from", ("package.module:name",), id="registry-without-module"),
    pytest.param("tools: {schemas: []}\n", "tools.schemas", ("must not be empty",), id="no-schemas"),
    pytest.param("tools: {schemas: [{name: a}, {name: a}]}\n", "tools.schemas", ("'a' twice",), id="schema-twice"),
    pytest.param("tools: {use: [a, a]}\n", "tools.use", ("'a' twice",), id="built-in-twice"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "line", "field", "words"), BAD)
def test_a_wrong_field_is_refused_with_file_line_field_and_remedy(body: str, line: int | None, field: str, words: tuple[str, ...]) -> None:
    with pytest.raises(ScenarioError) as caught:
        parsed(body)
    error = caught.value
    assert (error.line, error.field) == (line, field)
    assert error.file == "x.yaml" or line is None
    for word in words:
        assert word in str(error)


@pytest.mark.parametrize(("tools", "field", "words"), BAD_TOOLS)
def test_a_wrong_source_of_tools_is_refused(tools: str, field: str, words: tuple[str, ...]) -> None:
    with pytest.raises(ScenarioError) as caught:
        parse_evaluation(f"format: harness-evaluation/1\n{tools}{ONE}", "x.yaml")
    assert (caught.value.line, caught.value.field) == (2, field)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("- a\n", "write 'format: harness-evaluation/1' first", id="list"),
        pytest.param("tools: {use: [a]}\n", "write 'format: harness-evaluation/1' first", id="no-format"),
        pytest.param("format: harness-scenario/1\n", "field 'format': must be 'harness-evaluation/1', is 'harness-scenario/1'; this is a scenario", id="a-scenario"),
        pytest.param("format: harness-evaluation/1\ncases: [{ask: a, expect: b}]\n", "field 'tools': is required", id="no-tools"),
        pytest.param(HEAD, "field 'cases': is required", id="no-cases"),
        pytest.param("", "is empty", id="empty"),
    ],
)
def test_what_is_no_evaluation_says_so(text: str, words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        parse_evaluation(text, "x.yaml")


def test_all_complaints_are_told_at_once() -> None:
    with pytest.raises(ScenarioError) as caught:
        parsed("seed: -1\ntrials: 0\ncases: [{ask: a, expect: {b: 7}}, {ask: a}]\n")
    assert [line.split(",")[0] for line in str(caught.value).splitlines()] == ["x.yaml:3", "x.yaml:4", "x.yaml:5", "x.yaml:5"]


def test_too_large_a_document_says_where_cases_may_stand(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(HEAD + "cases:\n" + "  - {ask: a question that is rather long, expect: no_call}\n" * 20_000, "utf-8")
    with pytest.raises(ScenarioError, match=r"larger than 1,048,576 bytes.*cases: \{from: cases.jsonl\}"):
        load_evaluation(path)


def test_an_error_in_a_file_of_descriptions_names_that_file(tmp_path: Path) -> None:
    tmp_path.joinpath("x.yaml").write_text(HEAD + "arms: {a: {descriptions: d.yaml}}\n" + ONE, "utf-8")
    tmp_path.joinpath("d.yaml").write_text("get: text\nput: 7\n", "utf-8")
    with pytest.raises(ScenarioError) as caught:
        load_evaluation(tmp_path / "x.yaml")
    assert (Path(caught.value.file).name, caught.value.line, caught.value.field) == ("d.yaml", 2, "put")


def test_the_python_form_is_refused_like_the_document() -> None:
    with pytest.raises(ScenarioError, match=r"evaluation\(\), field 'cases\[0\].expct': unknown field"):
        evaluation(tools={"use": ["a"]}, cases=[{"ask": "a", "expct": "b"}])
    with pytest.raises(ScenarioError, match=r"evaluation\(\): not lossless JSON"):
        evaluation(tools={"use": ["a"]}, cases=[{"ask": "a", "expect": {"b": {"x": float("nan")}}}])
