"""Changes to one field of a definition, each of which changes its meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from layover.core.definitions.model import Definition, DefinitionPart, Edge, GraphDefinition, Node, TriggerDefinition

from .parts_of import parts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .dice import Dice
    from .parts_of import Path

P = TypeVar("P", bound=DefinitionPart)

_FOR_PEOPLE = frozenset({"label", "description", "tags", "position", "extra"})


def meaningful_fields(definition: Definition) -> Iterator[tuple[Path, str]]:
    """Return every field of every part that decides how a definition runs."""
    for path, part in parts_of(definition):
        if not any(field in _FOR_PEOPLE for field, _ in path):
            for field in part.__struct_fields__:
                if field not in _FOR_PEOPLE and not (isinstance(part, Edge) and field == "id"):
                    yield path, field


def changed(part: P, path: Path, field: str, dice: Dice) -> P:
    """Return a part in which one field, at any depth, has another value."""
    if not path and field == "edges" and isinstance(part, GraphDefinition) and not part.edges:
        return msgspec.structs.replace(part, edges=(Edge(source="zzz", target="zzz", port="zzz"),))
    if not path and field == "triggers" and isinstance(part, Definition) and not part.triggers:
        return msgspec.structs.replace(part, triggers=(TriggerDefinition(name="zzz", type="zzz"),))
    if not path:
        return msgspec.structs.replace(part, **{field: other(getattr(part, field), dice)})
    (name, index), *rest = path
    value = getattr(part, name)
    if index is None:
        return msgspec.structs.replace(part, **{name: changed(value, tuple(rest), field, dice)})
    items = list(value)
    items[index] = changed(items[index], tuple(rest), field, dice)
    return msgspec.structs.replace(part, **{name: tuple(items)})


def other(value: object, dice: Dice) -> object:
    """Return another value of the same kind, as close to the first as possible."""
    match value:
        case None | msgspec.UNSET:
            return 0 if value is None else None
        case bool():
            return not value
        case int():
            return dice.pick((value + 1, value - 1))
        case float():
            return value + 1 if value + 1 != value else value / 2
        case str():
            return dice.pick((value + " ", value[1:] if value else "a", value.swapcase() + "x"))
        case dict():
            return _other_mapping(value, dice)
        case list():
            return [*value, None]
        case tuple():
            return _other_items(value, dice)
        case GraphDefinition():
            return msgspec.structs.replace(value, nodes=(*value.nodes, Node(id="zzz", type="zzz")))
        case DefinitionPart():
            field = dice.pick([name for name in value.__struct_fields__ if name not in _FOR_PEOPLE])
            return changed(value, (), field, dice)
        case _:
            raise TypeError(f"a definition has no {type(value).__name__}")


def _other_mapping(value: dict[str, object], dice: Dice) -> dict[str, object]:
    if not value or dice.chance():
        return {**value, "new key": None}
    key = dice.pick(list(value))
    return {**value, key: other(value[key], dice)}


def _other_items(value: tuple[object, ...], dice: Dice) -> tuple[object, ...]:
    """Add, drop or repeat an item: each changes the meaning, and so does a changed item."""
    if not value:
        return ("a",)
    index = dice.integer(0, len(value) - 1)
    return dice.pick(((*value, value[index]), value[:index] + value[index + 1 :]))
