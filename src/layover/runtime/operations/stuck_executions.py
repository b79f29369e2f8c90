"""Waits for an execution, but raises if it needs node functions that no instance has.

Such an execution is durable and rests; an instance that has the functions claims it. While other instances run, one of
them may have the functions and only be busy, so the wait goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.errors import MissingFunctions
from layover.runtime.execution.unknown_commands import kinds_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.nodes.registry import Registry
    from layover.ports.records import Head
    from layover.runtime.instance import Instance


async def until_unless_stuck(instance: Instance, execution_id: str, wanted: Callable[[Head], bool]) -> Head | None:
    """Return the head of an execution once it is as wanted; MissingFunctions if it needs some that no instance has."""
    listeners, registry = instance.listeners, instance.registry
    while True:
        head = await listeners.until(execution_id, lambda head: wanted(head) or _is_stuck(head, registry))
        if head is None or wanted(head):
            return head
        if not await listeners.patiently(instance.store.instances.list_others):
            raise MissingFunctions(execution_id, head.missing)
        await listeners.until(execution_id, lambda head: wanted(head) or not _is_stuck(head, registry))


def _is_stuck(head: Head, registry: Registry) -> bool:
    """Return whether nothing wakes an execution but an instance with functions that this one does not have."""
    if head.status != "waiting" or not head.missing or head.owner is not None or head.wake_at is not None:
        return False
    if head.commands_done < head.commands_seq:
        return False
    return not any(map(registry.has, head.missing)) and not kinds_in(head.missing)
