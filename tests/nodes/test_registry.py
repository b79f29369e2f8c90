"""The functions of an engine go with it."""

from __future__ import annotations

import gc
import weakref

from layover.nodes.registry import Registry


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
