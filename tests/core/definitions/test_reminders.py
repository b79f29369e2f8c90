"""Reminders are written as they can be read again, after a duration or before the deadline."""

from __future__ import annotations

from layover.core.definitions.canonical import document
from layover.core.plan import load

TEXT = """
name: w
nodes: [{id: f, type: form, remind: [4h, {before: 1h}], deadline: 1d, on_deadline: fail}]
"""


def test_reminders_of_both_kinds_survive_the_canonical_document() -> None:
    plan = load(TEXT)
    written = document(plan.definition)
    assert "'remind': ['4h', {'before': '1h'}]" in str(written)
    assert load(written).hash == plan.hash
