"""Texts have bounds, whatever a template or a value makes of them."""

from __future__ import annotations

import pytest

from layover.runtime.deliveries.default_texts import SpokenText
from layover.runtime.deliveries.texts import LONGEST_SUBJECT, LONGEST_TEXT, cut_text


@pytest.mark.parametrize("letter", ["a", "ä", "€", "\U0001f600"])
def test_a_text_has_a_bound_in_bytes(letter: str) -> None:
    text = cut_text(SpokenText("", letter * (LONGEST_TEXT + 1))).text
    size = len(letter.encode())
    assert text == letter * (LONGEST_TEXT // size)


def test_a_subject_has_a_bound_and_one_line() -> None:
    assert cut_text(SpokenText("a\r\nBcc: b\u2028c\u202ed" + "e" * 500, "")).subject == (
        "a Bcc: b c d" + "e" * (LONGEST_SUBJECT - len("a Bcc: b c d"))
    )


def test_halves_of_characters_and_nul_leave_a_text() -> None:
    assert cut_text(SpokenText("", "a\0b\ud800c")).text == "ab?c"
