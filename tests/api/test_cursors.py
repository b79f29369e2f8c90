"""Cursors go out and come back; nothing else that comes is taken for one."""

from __future__ import annotations

import base64
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layover.errors import InvalidInput
from layover.service.cursors import cursor_of, parsed

IDS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=200)


@given(st.integers(0, 10**18 - 1), IDS)
def test_what_went_out_comes_back(at: int, id_: str) -> None:
    cursor = cursor_of(at, id_)
    assert parsed(cursor) == (at, id_)
    assert cursor.isascii()
    assert cursor.replace("-", "").replace("_", "").isalnum()  # it goes into an address as it is


@given(st.text(max_size=500) | st.binary(max_size=300).map(lambda raw: base64.urlsafe_b64encode(raw).decode()))
def test_whatever_comes_is_read_or_refused(text: str) -> None:
    with suppress(InvalidInput):
        assert cursor_of(*parsed(text)) == text


@pytest.mark.parametrize(
    "written", ["", "1", "1 ", " a", "-1 a", "01 a", "1.5 a", "1 a b", "1 é", "10000000000000000000 a"]
)
def test_what_is_written_otherwise_is_refused(written: str) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        parsed(base64.urlsafe_b64encode(written.encode()).decode().rstrip("="))
