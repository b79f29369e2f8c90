from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from layover.core.definitions.dialects.scope import RootNames
from layover.core.definitions.dialects.templates import rename_roots, template

from .shared import action, builder, one, render, translated

SCOPE = RootNames(nodes={"fetch", "pre-check", "size"}, triggers={"hook-1"})


@pytest.mark.parametrize(
    ("written", "made"),
    [
        ("plain", "plain"),
        ("@{_trigger.user.id}", "${trigger.user.id}"),
        ("@{_vars.limit}", "${vars.limit}"),
        ("@{fetch.body.name}", "${nodes.fetch.body.name}"),
        ("@{pre-check.ok}", '${nodes["pre-check"].ok}'),
        ("@{hook-1.user}", "${input.user}"),
        ("@{_now()}", "${now()}"),
        ("@{_uuid()}", "${uuid()}"),
        ("@{_jsonStringify(fetch)}", "${json(nodes.fetch)}"),
        ("@{_jsonParse(fetch.text).a}", "${parseJson(nodes.fetch.text).a}"),
        ("@{_response.body}", "${_response.body}"),
        ("@{size(fetch.list)}", "${size(nodes.fetch.list)}"),
        ("@{input.fetch}", "${input.fetch}"),
        ("@{fetch . fetch}", "${nodes.fetch . fetch}"),
        ("@{'fetch ' + fetch.a}", "${'fetch ' + nodes.fetch.a}"),
        ('@{"a } b" + fetch.x}', '${"a } b" + nodes.fetch.x}'),
        ("@{ {'a': fetch.x} }", "${{'a': nodes.fetch.x}}"),
        ("@{fetch.n-1}", "${nodes.fetch.n-1}"),
        ("@{fetch-1}", "${nodes.fetch-1}"),
        ("@{1e5 + fetch.n}", "${1e5 + nodes.fetch.n}"),
        ("Dear @{fetch.name}, you owe $@{fetch.sum}!", 'Dear ${nodes.fetch.name}, you owe ${"$"}${nodes.fetch.sum}!'),
        ("$$@{fetch.sum}", '${"$$"}${nodes.fetch.sum}'),
        ("${HOME}/@{fetch.name}", "$${HOME}/${nodes.fetch.name}"),
        ("${input.ours}", "${input.ours}"),
        ("never @{closed", "never @{closed"),
        ("mail@{ok", "mail@{ok"),
    ],
)
def test_a_template_keeps_its_meaning_in_our_spelling(written: str, made: str) -> None:
    assert template(written, SCOPE) == made


TEXT = st.text(st.sampled_from("$${}@ ab\"'\\"), max_size=8).filter(lambda text: "@{" not in text)


@given(st.lists(TEXT, min_size=1, max_size=5))
@example(["$", "$"])
@example(["${", "$$"])
@example(["", "${a}"])
@example(["@", ""])
def test_text_around_code_comes_out_exactly_as_it_was_written(texts: list[str]) -> None:
    written = "@{_vars.x}".join(texts)
    if written == "@{_vars.x}" or len(texts) == 1 or any(text.endswith("@") for text in texts):
        return
    assert render(template(written, SCOPE), vars={"x": "VALUE"}) == "VALUE".join(texts)


@given(st.text(st.sampled_from("ab_-.'\"\\{}() @$1"), max_size=40))
def test_renaming_never_fails_and_changes_nothing_where_nothing_is_known(code: str) -> None:
    assert rename_roots(code, RootNames()) == code.strip()
    template("@{" + code, SCOPE)
    template("@{" + code + "}", SCOPE)


@pytest.mark.parametrize("hostile", ['"\\"' * 100_000, "@{" * 100_000, "a-" * 100_000, "@{a}$" * 50_000, "' " * 99_999])
def test_work_is_linear_in_the_text(hostile: str) -> None:
    template("@{" + hostile, SCOPE)
    template("@{" + hostile + "}", SCOPE)
    rename_roots(hostile, SCOPE)


def test_only_the_texts_of_the_configuration_are_translated() -> None:
    node = action("send-sms", {"to": ["@{_vars.a}", {"deep": "@{_vars.b}"}], "n": 5, "plain": "x"})
    assert one(node)["input"] == {"to": ["${vars.a}", {"deep": "${vars.b}"}], "n": 5, "plain": "x"}


def test_a_document_in_our_own_form_may_write_an_at_sign_before_a_brace() -> None:
    document = {"name": "own", "nodes": [{"id": "a", "type": "compute", "output": "@{_vars.x}"}]}
    assert translated(document) == (document, [])


def test_unclosed_code_is_text_with_a_warning() -> None:
    made, problems = translated(builder(action("send-sms", {"text": "@{a"})))
    assert made["nodes"][0]["text"] == "@{a"
    assert [(problem.code, problem.severity) for problem in problems] == [("unclosed_template", "warning")]
