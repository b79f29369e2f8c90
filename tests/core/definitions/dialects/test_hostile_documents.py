from __future__ import annotations

from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from layover.core.definitions import check
from layover.core.definitions.dialects import translate
from layover.core.definitions.problems import Problems, TooManyProblems
from layover.core.definitions.tree import tree_from_data

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

KNOWN_KEYS = """
    name nodes edges steps start definition id nodeId type subType nodeType config nodeConfig next body branches retry
    condition conditions logic field operator value and or not on_true on_false action execute wait reason duration unit
    event signal timeout on_timeout onTimeout cases branch switchField defaultBranch arrayField itemVariable apiCall
    kafkaEvent enabled filter url headers outputMapping expression outputField actionType mergeStrategy source target
    sourceHandle port label response schema strategy maxAttempts waitDuration maxRetries registryId requiredEvents
    aggregationStrategy trigger position input
"""
KNOWN_WORDS = """
    a b a-2 complete trigger logic action condition switch loop delay merge function wait-events api-call parallel
    publish-event custom-action pause pause_resume block allow execute true false equals contains AND seconds all custom
    required_only fixed_delay @{a.b} @{ ${x} $@{_vars.x} a.b[0] 5 -1 1e9
"""
KEYS = st.sampled_from(KNOWN_KEYS.split())
WORDS = st.sampled_from(KNOWN_WORDS.split())
LEAVES = st.none() | st.booleans() | st.integers(-5, 2**62) | st.floats(allow_nan=False, allow_infinity=False) | WORDS
TREES: st.SearchStrategy[Json] = st.recursive(
    LEAVES | st.text(max_size=8),
    lambda child: st.lists(child, max_size=4) | st.dictionaries(KEYS, child, max_size=6),
    max_leaves=15,
)
NODES = st.fixed_dictionaries(
    {"id": WORDS},
    optional={
        "type": WORDS,
        "subType": WORDS,
        "config": TREES,
        "next": TREES,
        "retry": TREES,
        "condition": TREES,
        "action": TREES,
        "execute": TREES,
        "wait": TREES,
        "on_true": WORDS,
        "body": TREES,
        "branches": TREES,
    },
)
DOCUMENTS = st.one_of(
    TREES,
    st.fixed_dictionaries({"steps": st.lists(NODES, max_size=5)}),
    st.fixed_dictionaries({"nodes": st.lists(NODES, max_size=5), "edges": st.lists(TREES, max_size=4)}),
    st.fixed_dictionaries({"name": WORDS, "definition": st.fixed_dictionaries({"nodes": st.lists(NODES, max_size=5)})}),
)


@settings(max_examples=150, deadline=None)
@given(DOCUMENTS)
def test_no_document_whatever_its_shape_makes_translation_fail(document: object) -> None:
    problems = Problems()
    try:
        made = translate(tree_from_data(document), problems)
    except TooManyProblems:
        return
    made.plain()
    for problem in problems.listed():
        assert problem.message.endswith((".", "?"))


@settings(max_examples=75, deadline=None)
@given(DOCUMENTS.filter(lambda document: isinstance(document, dict)))
def test_no_document_whatever_its_shape_makes_checking_fail(document: dict[str, object]) -> None:
    check(document)


def nested(levels: int) -> dict[str, object]:
    node: dict[str, object] = {"nodeId": "n", "type": "logic", "subType": "delay", "config": {"duration": 1}}
    for level in range(levels):
        node = {"nodeId": f"l{level}", "type": "logic", "subType": "loop", "config": {"body": [node]}}
    return {"name": "deep", "nodes": [node]}


def test_bodies_as_deep_as_a_tree_may_be_are_translated() -> None:
    problems = Problems()
    made = translate(tree_from_data(nested(30)), problems).plain()
    assert problems.listed() == []
    assert "subType" not in str(made)


def test_many_nodes_that_all_ask_for_the_same_new_id_cost_no_more_than_others() -> None:
    count = 5_000
    steps = [{"id": "a", "execute": ["x", "y"], "action": {"type": "block"}} for _ in range(count)]
    made = translate(tree_from_data({"name": "many", "steps": steps}), Problems()).plain()
    assert isinstance(made, dict)
    nodes = made["nodes"]
    assert isinstance(nodes, list)
    assert len(nodes) == 4 * count
