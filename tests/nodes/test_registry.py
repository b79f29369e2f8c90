"""The functions of an engine go with it."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING

import pytest

from layover.nodes.notifier import notifier
from layover.nodes.registry import BadFunction, Registry

if TYPE_CHECKING:
    from layover.model.deliveries import Notification


class Doubling:
    async def __call__(self, n: int) -> int:
        return 2 * n


def test_an_object_that_is_called_goes_with_its_registry() -> None:
    registry, function = Registry(), Doubling()
    registry.add_object(function, "double")
    gone = weakref.ref(function)
    del registry, function
    gc.collect()
    assert gone() is None
    again = Registry()
    again.add_object(Doubling(), "twice")
    assert again.find("twice").name == "twice"


def test_a_notifier_takes_the_notification_and_nothing_else() -> None:
    def tell(told: Notification) -> None: ...
    def nobody() -> None: ...
    def both(told: Notification, other: str) -> None: ...

    registry = Registry()
    assert registry.add(notifier(tell)) == "tell"
    assert registry.add(notifier(name="ops.chat-2")(tell)) == "ops.chat-2"
    for wrong in (notifier(nobody), notifier(both), notifier(name="no:colon")(tell)):
        with pytest.raises(BadFunction):
            registry.add(wrong)
    with pytest.raises(BadFunction):
        notifier(on=["pause.unknown"])
