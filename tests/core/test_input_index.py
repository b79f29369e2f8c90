"""The JSON documents in the input index."""

from __future__ import annotations

from decimal import Decimal

import msgspec
import pytest

from layover.core.input_index import MOST_BYTES, MOST_DEPTH, document_of, fault_of, read_document


def nested(levels: int) -> bytes:
    """Return an object that nests so many levels deep, itself included."""
    return b'{"a":' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"


def sized(size: int) -> bytes:
    return msgspec.json.encode({"a": "x" * (size - len(b'{"a":""}'))})


@pytest.mark.parametrize(
    "document",
    [
        b'{"a":null}',
        b'{"a":1,"a":2}',
        b'{"a":"\\\\u0000"}',
        b'{"a":"\\ud83d\\ude00"}',
        b'{"":""}',
        b'{"a":1e400,"b":-1e-400,"c":' + b"9" * 4_000 + b"}",
        b' {"a" : [ ] }\n',
        nested(MOST_DEPTH),
        b'{"a":[' + b"[]," * 2_000 + b"[]]}",
        sized(MOST_BYTES),
    ],
    ids=lambda document: document[:20].decode(),
)
def test_a_document_that_every_store_can_keep_is_kept(document: bytes) -> None:
    assert fault_of(document) is None


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        (b"", "it is not valid JSON: Input data was truncated"),
        (b'{"a":}', "it is not valid JSON: JSON is malformed"),
        (b'{"a":NaN}', "it is not valid JSON"),
        (b'{"a":"\xff"}', "it is not valid JSON"),
        (b'{"a":"\\ud800"}', "it is not valid JSON"),
        (b'{"a":"\\udc00\\ud800"}', "it is not valid JSON"),
        (b'{"a":"\x00"}', "it is not valid JSON"),
        (b'{"a":' + b"9" * 5_000 + b"}", "it is not valid JSON: Integer value out of range"),
        (b'{"a":' + b"[" * 4_000 + b"]" * 4_000 + b"}", "it is not valid JSON: maximum recursion depth exceeded"),
        (b"{}", "it is not an object with members"),
        (b"[1]", "it is not an object with members"),
        (b"null", "it is not an object with members"),
        (nested(MOST_DEPTH + 1), "it nests deeper than 32 levels"),
        (sized(MOST_BYTES + 1), "it has 8,193 bytes, and at most 8,192 can be searched for"),
        (b'{"a":"\\u0000"}', "a text in it has the character U+0000"),
        (b'{"a":["x\\\\\\u0000"]}', "a text in it has the character U+0000"),
        (b'{"\\u0000":1}', "a text in it has the character U+0000"),
        (b'{"a":1e401}', "the number 1e401 is too large or too precise to be searched for"),
        (b'{"a":0e-999}', "the number 0e-999 is too large or too precise to be searched for"),
        (b'{"a":1e' + b"9" * 99 + b"}", f"the number 1e{'9' * 38} is too large or too precise to be searched for"),
    ],
    ids=lambda value: value[:20].decode(errors="replace") if isinstance(value, bytes) else "",
)
def test_a_document_that_one_store_cannot_hold_is_refused_with_the_reason(document: bytes, fault: str) -> None:
    found = fault_of(document)
    assert found is not None
    assert found.startswith(fault)


def test_numbers_are_read_as_they_are_written() -> None:
    assert read_document(b"[0.1, 0.10000000000000001, 12345678901234567890]") == [
        Decimal("0.1"),
        Decimal("0.10000000000000001"),
        12345678901234567890,
    ]


@pytest.mark.parametrize("value", [None, 7, "text", [], [1], {}, {"a": "x" * MOST_BYTES}])
def test_values_that_are_not_objects_or_too_large_are_not_indexed(value: object) -> None:
    assert document_of(value) is None


def test_an_object_is_a_document_up_to_its_size() -> None:
    assert document_of({"a": [1, 1.5, "é"]}) == '{"a":[1,1.5,"é"]}'.encode()
    assert document_of({"a": "x" * (MOST_BYTES - len('{"a":""}'))}) == sized(MOST_BYTES)
