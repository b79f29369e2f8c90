"""Whether a document contains another: as PostgreSQL says, and what it can keep."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layover.core.input_index import fault_of, read_document
from layover.stores.json_contains import contains
from tests.conftest import FACTOR
from tests.servers.postgres import connect, postgres_address

if TYPE_CHECKING:
    from collections.abc import Sequence

Node: TypeAlias = "Array | Object | str"  # a text is a scalar as it is written


class Array(NamedTuple):
    parts: list[Node]


class Object(NamedTuple):
    members: list[tuple[str, Node]]  # a name may come twice


# So few, and written in so many ways, that they meet.
ALL_SCALARS = [
    *("null", "true", "false", "0", "-0", "0.0", "1", "1.0", "1e0", "10E-1", "-1", "0.1", "0.10000000000000001"),
    *("12345678901234567890", "12345678901234567890.0", "12345678901234567891", "1e400", "1e-400"),
    *('""', '"1"', '"true"', '"a"', '"\\u0061"', '"é"', '"e\\u0301"', '"\\ud83d\\ude00"', '"😀"'),
]
SCALARS = st.sampled_from(ALL_SCALARS)
NAMES = st.sampled_from(['"a"', '"b"', '"\\u0061"', '""'])
NODES: st.SearchStrategy[Node] = st.recursive(
    SCALARS,
    lambda inner: (
        st.builds(Array, st.lists(inner, max_size=4)) | st.builds(Object, st.lists(st.tuples(NAMES, inner), max_size=4))
    ),
    max_leaves=12,
)


@st.composite
def part_of(draw: st.DrawFn, node: Node) -> Node:
    """Draw something of a document; mostly it is contained in it."""
    match node:
        case Array(parts):
            chosen = draw(st.lists(st.sampled_from(parts), max_size=4)) if parts else []
            return Array([draw(part_of(part)) for part in chosen])
        case Object(members):
            chosen_members = draw(st.lists(st.sampled_from(members), max_size=3)) if members else []
            return Object([(name, draw(part_of(part))) for name, part in chosen_members])
        case _:
            return node if draw(st.integers(0, 9)) else draw(SCALARS)


PAIRS = st.tuples(NODES, NODES) | NODES.flatmap(lambda node: st.tuples(st.just(node), part_of(node)))


def written(node: Node) -> str:
    match node:
        case Array(parts):
            return f"[{', '.join(written(part) for part in parts)}]"
        case Object(members):
            return f"{{{', '.join(f'{name}: {written(part)}' for name, part in members)}}}"
        case text:
            return text


async def asked(statement: str, *columns: Sequence[str]) -> list[object]:
    connection = await connect(postgres_address())
    try:
        return [row[0] for row in await connection.fetch(statement, *columns)]
    finally:
        await connection.close()


def said_by_postgres(pairs: list[tuple[str, str]]) -> list[object]:
    statement = """
        SELECT data::jsonb @> wanted::jsonb
        FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS pair (data, wanted, n)
        ORDER BY n
    """
    return asyncio.run(asked(statement, [data for data, _ in pairs], [wanted for _, wanted in pairs]))


def said_by_us(pairs: list[tuple[str, str]]) -> list[object]:
    return [contains(read_document(data.encode()), read_document(wanted.encode())) for data, wanted in pairs]


@settings(max_examples=40 * FACTOR)
@given(st.lists(PAIRS, min_size=5, max_size=20))
def test_a_document_contains_what_postgresql_says_it_does(nodes: list[tuple[Node, Node]]) -> None:
    pairs = [(written(data), written(wanted)) for data, wanted in nodes]
    assert said_by_us(pairs) == said_by_postgres(pairs)


@pytest.mark.parametrize("around", ["{}", "[{}]", '{{"a": {}}}', '{{"a": [null, {}]}}'])
def test_scalars_are_the_same_when_postgresql_says_so(around: str) -> None:
    pairs = [(around.format(one), around.format(other)) for one in ALL_SCALARS for other in ALL_SCALARS]
    assert said_by_us(pairs) == said_by_postgres(pairs)


@pytest.mark.parametrize(
    ("data", "wanted", "is_contained"),
    [
        ('{"a": 1, "b": 2}', '{"b": 2.0}', True),
        ('{"a": 1}', '{"a": true}', False),
        ('{"a": 0}', '{"a": false}', False),
        ('{"a": {"b": {"c": 1, "d": 2}}}', '{"a": {"b": {"d": 2}}}', True),
        ('{"a": {"b": 1}}', '{"b": 1}', False),
        ('{"a": [1, 2, 3]}', '{"a": [3, 1, 1]}', True),
        ('{"a": [1, 2]}', '{"a": 1}', False),
        ('{"a": [{"b": 1, "c": 2}]}', '{"a": [{"b": 1}, {"c": 2}]}', True),
        ('{"a": [[1, 2]]}', '{"a": [[2]]}', True),
        ('{"a": [[1, 2]]}', '{"a": [2]}', False),
        ('{"a": 1}', '{"a": null}', False),
        ('{"a": null}', '{"a": null}', True),
        ('{"b": 1}', '{"a": null}', False),
        ('{"a": {}}', '{"a": []}', False),
        ('{"a": [1]}', '{"a": []}', True),
        ("[1, [2]]", "1", True),
        ("[1, [2]]", "2", False),
        ("1", "[1]", False),
    ],
)
def test_examples_of_what_is_contained(data: str, wanted: str, is_contained: bool) -> None:
    assert said_by_us([(data, wanted)]) == said_by_postgres([(data, wanted)]) == [is_contained]


# Bits and pieces of JSON, some of them wrong.
BITS = st.sampled_from(
    [
        *("{", "}", "[", "]", ",", ":", '"', "\\", "\\u", "0000", "d83d", "\\ud83d", "\\ude00", "\\u0000", "\\\\u0000"),
        *('"a":', '"a"', "1", "-", ".", "e", "E+", "9" * 30, "e400", "1e-400", "true", "null", " ", "\n", "\t", "é"),
        *("\ufeff", "\x7f", "\u2028", "\uffff", "\U0010ffff", "\\/", "\\b", "/*", "NaN", "Infinity", "[" * 33),
    ]
)
LOOSE = st.lists(BITS, max_size=12).map("".join)
IN_TEXTS = st.sampled_from(
    ["a", "é", "\\\\", "\\n", "\\u0000", "\\u0001", "\\ud83d", "\\ude00", "\\uffff", "u0000", "/", "\x7f"]
)
TEXTS = st.lists(IN_TEXTS, max_size=4).map("".join).map('"{}"'.format)
WHOLE = st.builds("{{{}: {}}}".format, TEXTS, LOOSE | TEXTS | NODES.map(written))


@settings(max_examples=40 * FACTOR)
@given(st.lists(LOOSE | WHOLE, min_size=5, max_size=40))
def test_postgresql_can_keep_whatever_is_kept(texts: list[str]) -> None:
    kept = [text for text in texts if fault_of(text.encode()) is None]
    asyncio.run(asked("SELECT document::jsonb FROM unnest($1::text[]) AS document", kept))


@pytest.mark.parametrize(
    "text",
    ['{"a": 1e400, "b": -1e-400}', f'{{"a": {"9" * 4_000}}}', f'{{"a": 0.{"1" * 8_000}}}', '{"a": 1, "a": 2}'],
    ids=lambda text: text[:20],
)
def test_postgresql_can_keep_what_is_large(text: str) -> None:
    assert fault_of(text.encode()) is None
    assert len(asyncio.run(asked("SELECT document::jsonb FROM unnest($1::text[]) AS document", [text]))) == 1
