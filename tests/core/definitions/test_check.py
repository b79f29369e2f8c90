"""Everything that `check` reports: one definition for each, with the position of the problem."""

from __future__ import annotations

import pytest

from layover.core.definitions import InvalidDefinition, Problem, check
from layover.core.plan import load

HEAD = "name: w\n"


def nodes(*lines: str) -> str:
    return HEAD + "nodes:\n" + "".join(f"  {line}\n" for line in lines)


def found(source: str, **options: object) -> list[tuple[str, int | None, int | None]]:
    functions = options.get("functions")
    checked = check(source, functions=functions if isinstance(functions, set) else None)
    expected = {"default_max_pause"} if functions is not None else {"default_max_pause", "unknown_type"}
    return [(p.code, p.line, p.column) for p in checked.problems if p.code not in expected]


def problem(source: str) -> Problem:
    (only,) = check(source).problems
    return only


END = "- {id: end, type: end}"
DELAY = "- {id: a, type: delay, duration: 1s, next: end}"

WRONG = {
    "a graph without nodes": (HEAD + "nodes: []\n", "empty_graph", 2, 8),
    "a definition without nodes": (HEAD, "missing_field", 1, 1),
    "a definition without a name": ("nodes:\n  - {id: e, type: end}\n", "missing_field", 1, 1),
    "a name that cannot be": ("name: 1st\nnodes:\n  - {id: e, type: end}\n", "bad_name", 1, 7),
    "an unknown field of a definition": (HEAD + "setings: {}\nnodes:\n  - {id: e, type: end}\n", "unknown_field", 2, 1),
    "an unknown setting": (
        HEAD + "settings: {durabilty: leg}\nnodes:\n  - {id: e, type: end}\n",
        "unknown_field",
        2,
        12,
    ),
    "an unknown field of a node": (nodes(END[:-1] + ", outcom: x}"), "unknown_field", 3, 26),
    "an unknown field of a body": (
        nodes("- {id: l, type: loop, times: 2, body: {noodles: [], nodes: [{id: d, type: delay, duration: 1s}]}}"),
        "unknown_field",
        3,
        42,
    ),
    "a node without an id": (nodes("- {type: end}"), "missing_field", 3, 5),
    "an id that cannot be": (nodes("- {id: 9lives, type: end}"), "bad_name", 3, 10),
    "a field of the wrong type": (nodes("- {id: f, type: form, title: [x]}"), "bad_type", 3, 32),
    "a word that is no choice": (nodes(DELAY[:-1] + ", on_error: contnue}", END), "bad_value", 3, 61),
    "a number out of range": (nodes("- {id: a, type: approval, need: 0}"), "bad_value", 3, 35),
    "two nodes with one id": (
        nodes("- {id: a, type: delay, duration: 1s}", "- {id: a, type: end}"),
        "duplicate_id",
        4,
        10,
    ),
    "an edge to nowhere": (nodes("- {id: a, type: delay, duration: 1s, next: b}"), "dangling_edge", 3, 46),
    "an edge from nowhere": (
        nodes("- {id: a, type: end}") + "edges: [{source: b, target: a}]\nstart: a\n",
        "dangling_edge",
        4,
        9,
    ),
    "an unknown port": (nodes("- {id: a, type: delay, duration: 1s, next: {dun: end}}", END), "unknown_port", 3, 47),
    "a port of a node that ends": (nodes("- {id: a, type: end, next: end}", END), "unknown_port", 3, 30),
    "a condition whose ports are not named": (
        nodes("- {id: a, type: condition, if: 'true', next: end}", END),
        "unknown_port",
        3,
        48,
    ),
    "the same edge twice": (
        nodes("- {id: a, type: delay, duration: 1s, next: [end, end]}", END),
        "duplicate_edge",
        3,
        52,
    ),
    "a cycle": (
        nodes("- {id: s, type: delay, duration: 1s, next: a}", "- {id: a, type: delay, duration: 1s, next: b}")
        + "  - {id: b, type: delay, duration: 1s, next: a}\n",
        "cycle",
        4,
        5,
    ),
    "several starts": (
        nodes("- {id: a, type: delay, duration: 1s}", "- {id: b, type: delay, duration: 1s}"),
        "several_starts",
        3,
        3,
    ),
    "a start that is no node": (nodes(END) + "start: edn\n", "unknown_start", 4, 8),
    "a start that an edge leads to": (nodes(DELAY, END) + "start: [a, end]\n", "start_has_edge", 5, 8),
    "a node that nothing leads to": (
        nodes(END, "- {id: b, type: delay, duration: 1s}") + "start: end\n",
        "unreachable_node",
        4,
        5,
    ),
    "a duration without a unit": (nodes("- {id: a, type: delay, duration: 90}"), "bad_duration", 3, 36),
    "a duration that is none": (nodes("- {id: a, type: delay, duration: soon}"), "bad_duration", 3, 36),
    "a delay without a length": (nodes("- {id: a, type: delay}"), "exactly_one", 3, 5),
    "a delay with two lengths": (nodes("- {id: a, type: delay, duration: 1s, until: x}"), "exactly_one", 3, 47),
    "a schema that is none": (nodes("- {id: f, type: form, schema: {type: objct}}"), "bad_schema", 3, 40),
    "a schema that refers outside": (
        nodes('- {id: f, type: form, schema: {$ref: "http://example.com/s"}}'),
        "bad_schema",
        3,
        33,
    ),
    "a pattern that backtracks": (nodes('- {id: f, type: form, schema: {pattern: "(?=a)b"}}'), "bad_schema", 3, 43),
    "an unknown dialect of JSON Schema": (
        nodes('- {id: f, type: form, schema: {$schema: "http://x"}}'),
        "bad_schema",
        3,
        43,
    ),
    "an input schema that is none": (
        HEAD + "input: {required: id}\nnodes:\n  - {id: e, type: end}\n",
        "bad_schema",
        2,
        19,
    ),
    "an expression that does not parse": (
        nodes("- {id: c, type: condition, if: input.a >}"),
        "expression_syntax",
        3,
        43,
    ),
    "an expression in a template that does not parse": (
        nodes('- {id: f, type: form, title: "Hi ${input.}"}'),
        "expression_syntax",
        3,
        44,
    ),
    "a template that is not closed": (
        nodes('- {id: f, type: form, title: "Hi ${input.a"}'),
        "expression_syntax",
        3,
        38,
    ),
    "a name that cannot exist": (nodes("- {id: c, type: condition, if: inptu.a}"), "expression_unknown_name", 3, 34),
    "a node that does not exist": (
        nodes("- {id: c, type: condition, if: nodes.x.y}"),
        "expression_unknown_name",
        3,
        39,
    ),
    "a node that comes later": (
        nodes(
            "- {id: c, type: condition, if: nodes.l == null, next: {true: l}}", "- {id: l, type: delay, duration: 1s}"
        ),
        "expression_unknown_name",
        3,
        39,
    ),
    "a node of a sibling branch": (
        nodes(
            "- id: p",
            "  type: parallel",
            "  branches:",
            "    - {id: x, body: [{id: one, type: delay, duration: 1s}]}",
            "    - {id: y, body: [{id: two, type: compute, output: '${nodes.one}'}]}",
        ),
        "expression_unknown_name",
        7,
        65,
    ),
    "a node inside a container, seen from outside": (
        nodes(
            "- {id: l, type: loop, times: 2, body: [{id: inner, type: delay, duration: 1s}], next: c}",
            "- {id: c, type: compute, output: '${nodes.inner}'}",
        ),
        "expression_unknown_name",
        4,
        44,
    ),
    "a node of its own body before it has run": (
        nodes(
            "- {id: l, type: loop, while: nodes.in1, max_iterations: 3, body: [{id: in1, type: delay, duration: 1s}]}"
        ),
        "expression_unknown_name",
        3,
        37,
    ),
    "a field that an input schema rules out": (
        HEAD + "input: {type: object, properties: {a: {}}, additionalProperties: false}\n"
        "nodes:\n  - {id: c, type: condition, if: input.b}\n",
        "expression_unknown_name",
        4,
        39,
    ),
    "types that cannot work": (
        HEAD
        + "input: {type: object, properties: {a: {type: string}}}\n"
        + "nodes:\n  - {id: c, type: condition, if: input.a > 3}\n",
        "expression_type",
        4,
        42,
    ),
    "a condition that is no condition": (
        nodes("- {id: c, type: condition, if: size('abc')}"),
        "expression_type",
        3,
        34,
    ),
    "a loop over what is no list": (
        nodes("- {id: l, type: loop, for_each: \"'abc'\", body: [{id: d, type: delay, duration: 1s}]}"),
        "expression_type",
        3,
        35,
    ),
    "a bare expression in braces": (nodes("- {id: c, type: condition, if: '${input.a}'}"), "bare_expression", 3, 34),
    "a secret in a condition": (nodes("- {id: c, type: condition, if: secrets.k == 'x'}"), "secret_exposed", 3, 34),
    "a secret in an output": (nodes("- {id: e, type: end, output: '${secrets.k}'}"), "secret_exposed", 3, 32),
    "callback outside a callback": (
        nodes("- {id: e, type: end, output: '${callback.url}'}"),
        "expression_unknown_name",
        3,
        35,
    ),
    "a rate over no time": (
        "name: w\nsettings: {rate: {limit: 1, per: 0s}}\nnodes: [{id: a, type: delay, duration: 1s}]\n",
        "bad_value",
        2,
        34,
    ),
    "a key made of what does not exist yet": (
        "name: w\nsettings: {concurrency: {limit: 1, key: '${vars.a}'}}\nnodes: [{id: a, type: delay, duration: 1s}]\n",
        "expression_unknown_name",
        2,
        44,
    ),
    "a deadline without outcome": (nodes("- {id: f, type: form, deadline: 1d}"), "deadline_without_outcome", 3, 35),
    "an outcome without deadline": (
        nodes("- {id: f, type: form, on_deadline: fail}"),
        "outcome_without_deadline",
        3,
        38,
    ),
    "a reminder before no deadline": (
        nodes("- {id: f, type: form, remind: [{before: 1h}]}"),
        "reminder_without_deadline",
        3,
        34,
    ),
    "a loop without bound": (
        nodes("- {id: l, type: loop, while: 'true', body: [{id: d, type: delay, duration: 1s}]}"),
        "loop_without_bound",
        3,
        32,
    ),
    "a loop over nothing": (
        nodes("- {id: l, type: loop, body: [{id: d, type: delay, duration: 1s}]}"),
        "loop_without_bound",
        3,
        5,
    ),
    "a loop of two kinds": (
        nodes("- {id: l, type: loop, times: 2, for_each: input.x, body: [{id: d, type: delay, duration: 1s}]}"),
        "loop_without_bound",
        3,
        32,
    ),
    "a nested id that hides an outer one": (
        nodes("- {id: l, type: loop, times: 2, body: [{id: l, type: delay, duration: 1s}]}"),
        "shadowed_name",
        3,
        47,
    ),
    "an item that hides another": (
        nodes(
            "- {id: l, type: loop, for_each: input.x, as: row, body: [{id: m, type: loop, for_each: row, as: row,"
            " body: [{id: d, type: delay, duration: 1s}]}]}"
        ),
        "shadowed_name",
        3,
        99,
    ),
    "an item that hides a root": (
        nodes("- {id: l, type: loop, for_each: input.x, as: nodes, body: [{id: d, type: delay, duration: 1s}]}"),
        "shadowed_name",
        3,
        48,
    ),
    "a case with nothing to compare": (
        nodes("- {id: s, type: switch, cases: [{equals: 1, port: p}]}"),
        "missing_field",
        3,
        35,
    ),
    "a case with two tests": (
        nodes("- {id: s, type: switch, value: input.a, cases: [{equals: 1, if: 'true', port: p}]}"),
        "exactly_one",
        3,
        51,
    ),
    "a switch without cases": (nodes("- {id: s, type: switch, cases: []}"), "bad_value", 3, 34),
    "a parallel without branches": (nodes("- {id: p, type: parallel, branches: []}"), "exactly_one", 3, 5),
    "two branches with one id": (
        nodes(
            "- {id: p, type: parallel, branches: [{id: x, body: [{id: a, type: delay, duration: 1s}]},"
            " {id: x, body: [{id: b, type: delay, duration: 1s}]}]}"
        ),
        "duplicate_id",
        3,
        98,
    ),
    "a body of a parallel without items": (
        nodes("- {id: p, type: parallel, body: [{id: a, type: delay, duration: 1s}]}"),
        "missing_field",
        3,
        5,
    ),
    "more approvals than people": (
        nodes("- {id: a, type: approval, approvers: {users: [ann]}, need: 2}"),
        "impossible_need",
        3,
        62,
    ),
    "approvers that are nobody": (nodes("- {id: a, type: approval, approvers: {}}"), "nobody_asked", 3, 40),
    "more signals than awaited": (
        nodes("- {id: w, type: wait_signal, signals: [{alias: x, signal: s}], need: 2}"),
        "impossible_need",
        3,
        72,
    ),
    "a wait for nothing": (nodes("- {id: w, type: wait_signal}"), "exactly_one", 3, 5),
    "a retry on what is no error": (
        nodes("- {id: h, type: http, url: http://x, retry: {retry_on: [5yy!]}}"),
        "bad_value",
        3,
        59,
    ),
    "an address that is none": (nodes("- {id: h, type: http, url: ftp://x}"), "bad_value", 3, 30),
    "a merge of what does not lead there": (
        nodes("- {id: a, type: delay, duration: 1s, next: m}", "- {id: m, type: merge, branches: [b]}"),
        "dangling_edge",
        4,
        37,
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_problem_is_reported_at_its_position(case: str) -> None:
    source, code, line, column = WRONG[case]
    assert found(source) == [(code, line, column)]


def test_all_problems_are_reported_at_once_in_the_order_of_the_text() -> None:
    source = nodes(
        "- {id: a, type: delay, duration: 5, next: nowhere}",
        "- {id: f, type: form, deadline: 1d, tittle: x}",
        "- {id: c, type: condition, if: inptu.x, next: {tru: a}}",
    )
    assert [code for code, *_ in found(source + "start: [f, c]\n")] == [
        "bad_duration",
        "dangling_edge",
        "deadline_without_outcome",
        "unknown_field",
        "expression_unknown_name",
        "unknown_port",
    ]


@pytest.mark.parametrize(
    ("source", "suggestion"),
    [
        (HEAD + "varaibles: {}\nnodes:\n  - {id: e, type: end}\n", "variables"),
        (nodes("- {id: a, type: delay, duration: 1s, next: edn}", "- {id: end, type: end}") + "start: a\n", "end"),
        (nodes("- {id: f, type: form, deadline: 1d, on_deadline: fial}"), "fail"),
        (nodes("- {id: a, type: aproval}"), "approval"),
    ],
)
def test_a_misspelt_name_gets_a_suggestion(source: str, suggestion: str) -> None:
    problems = check(source).problems
    assert suggestion in [p.suggestion for p in problems]
    assert any(f"Did you mean `{suggestion}`?" in p.message for p in problems)


def test_an_unknown_type_is_a_warning_until_the_functions_are_known() -> None:
    source = nodes("- {id: a, type: charge_card}")
    unsure = check(source)
    assert unsure.ok
    assert [p.severity for p in unsure.problems] == ["warning"]
    assert not check(source, functions=[]).ok
    assert check(source, functions=["charge_card"]).problems == ()


def test_an_unreadable_node_does_not_hide_the_problems_around_it() -> None:
    source = nodes("- {id: a, type: condition, next: {true: b}}", "- {id: b, type: end, output: '${nodes.a.x + }'}")
    assert [code for code, *_ in found(source)] == ["missing_field", "expression_syntax"]


def test_the_definition_of_a_failed_check_raises() -> None:
    checked = check(HEAD + "nodes: []\n")
    with pytest.raises(InvalidDefinition) as caught:
        _ = checked.definition
    assert [p.code for p in caught.value.problems] == ["empty_graph"]


def test_a_default_item_name_in_nested_loops_is_only_a_warning() -> None:
    source = nodes(
        "- {id: l, type: loop, for_each: input.x, body: [{id: m, type: loop, for_each: item,"
        " body: [{id: d, type: delay, duration: 1s}]}]}"
    )
    only = problem(source)
    assert (only.code, only.severity) == ("shadowed_name", "warning")


def test_a_json_definition_has_lines_and_columns_too() -> None:
    text = '{\n  "name": "w",\n  "nodes": [\n    {"id": "a", "type": "delay", "duration": "soon"}\n  ]\n}\n'
    only = problem(text)
    assert (only.code, only.line, only.column, only.path) == ("bad_duration", 4, 46, "$.nodes[0].duration")


def test_python_data_has_paths() -> None:
    only = check({"name": "w", "nodes": [{"id": "a", "type": "delay", "duration": "soon"}]}).problems[0]
    assert (only.code, only.line, only.path) == ("bad_duration", None, "$.nodes[0].duration")


def test_a_body_sees_earlier_nodes_and_its_own_names() -> None:
    source = nodes(
        "- {id: first, type: compute, output: [1, 2], next: l}",
        "- id: l",
        "  type: loop",
        "  for_each: nodes.first",
        "  as: number",
        "  index_as: position",
        "  break_if: nodes.ask.stop && position > 3",
        "  skip_if: number < 0",
        "  collect: ${nodes.ask.answer + number}",
        "  body:",
        "    - {id: ask, type: form, title: 'Number ${number} of ${size(nodes.first)}, ${execution.id}'}",
    )
    assert found(source) == []


def test_an_error_port_can_read_the_error() -> None:
    source = nodes(
        "- {id: a, type: http, url: 'https://x/${input.key}', next: {error: e}}",
        "- {id: e, type: end, reason: '${errors.a.code}: ${errors.a.message}'}",
    )
    assert found(source) == []


def test_a_case_accepts_when_as_an_alias_of_if() -> None:
    say = "{{name: w, nodes: [{{id: s, type: switch, cases: [{{{word}: input.a > {value}, port: p}}]}}]}}"
    assert load(say.format(word="when", value="1")).hash == load(say.format(word="if", value="1")).hash
    assert [code for code, *_ in found(say.format(word="when", value="nothing"))] == ["expression_unknown_name"]


@pytest.mark.parametrize("kind", ["approval", "form"])
def test_a_question_without_a_written_bound_is_warned_about(kind: str) -> None:
    def warned(settings: dict[str, object], **fields: object) -> list[str]:
        node = {"id": "ask", "type": kind, "title": "Pay?", **fields}
        checked = check({"name": "x", "nodes": [node], "settings": settings})
        assert checked.ok
        return [problem.code for problem in checked.problems]

    assert warned({}) == warned({"retention": "1d"}) == ["default_max_pause"]
    assert warned({"max_pause": "7d"}) == warned({"max_pause": "none"}) == []
    outcome = "reject" if kind == "approval" else "fail"
    assert warned({}, deadline="1d", on_deadline=outcome) == []
