"""The valid texts of a signal."""

from __future__ import annotations

import pytest

from layover.core.signal_texts import LONGEST, fault_in


@pytest.mark.parametrize("what", ["name", "key", "id"])
@pytest.mark.parametrize("text", ["a", "x" * LONGEST, "\n'%_;", "🔑", "\ud7ff\ue000"])
def test_valid_signal_texts_are_accepted(what: str, text: str) -> None:
    assert fault_in(what, text) is None


@pytest.mark.parametrize("what", ["name", "key", "id"])
@pytest.mark.parametrize("text", ["x" * (LONGEST + 1), "a\0", "\ud800", "a\udfffb", 7, None, b"a"])
def test_invalid_signal_texts_are_refused(what: str, text: object) -> None:
    assert what in (fault_in(what, text) or "")


def test_only_a_key_may_be_empty() -> None:
    assert fault_in("key", "") is None
    assert fault_in("name", "") is not None
    assert fault_in("id", "") is not None
