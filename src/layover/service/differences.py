"""What is different between two documents: every place at which they differ, and nothing twice.

Things with ids are the same thing wherever they stand in their list, and so are edges that lead from the same port to
the same node; in other lists it is the place that counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layover.model.workflows import Difference

if TYPE_CHECKING:
    from collections.abc import Iterator


def differences(before: Any, after: Any, path: str = "$") -> Iterator[Difference]:
    """Return what has to be done to the one to make it the other."""
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _of_members(before, after, path, "{path}.{name}")
    elif isinstance(before, list) and isinstance(after, list):
        ours, theirs = _by_name(before), _by_name(after)
        if ours is not None and theirs is not None:
            yield from _of_members(ours, theirs, path, "{path}[{name}]")
        else:
            numbered = [{str(index): one for index, one in enumerate(found)} for found in (before, after)]
            yield from _of_members(numbered[0], numbered[1], path, "{path}[{name}]")
    elif before != after or isinstance(before, bool) != isinstance(after, bool):
        yield Difference(path=path, kind="changed", before=before, after=after)


def _of_members(before: dict[str, Any], after: dict[str, Any], path: str, step: str) -> Iterator[Difference]:
    for name in dict.fromkeys((*before, *after)):
        place = step.format(path=path, name=name)
        if name not in after:
            yield Difference(path=place, kind="removed", before=before[name])
        elif name not in before:
            yield Difference(path=place, kind="added", after=after[name])
        else:
            yield from differences(before[name], after[name], place)


def _by_name(items: list[Any]) -> dict[str, Any] | None:
    """Return things by what they are known by; None if that does not tell them apart."""
    found = {name: one for one in items if (name := _name(one)) is not None}
    return found if len(found) == len(items) else None


def _name(item: Any) -> str | None:
    if not isinstance(item, dict):
        return None
    if "source" in item or "from" in item:
        source, target = item.get("source", item.get("from")), item.get("target", item.get("to"))
        return f"{source}.{item.get('port', '')} → {target}"
    return str(item["id"]) if "id" in item else None
