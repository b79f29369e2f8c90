"""The size of a result once it is written out.

An expression can build a small value that is huge on paper: `[a, a]` holds the same part twice, and thirty such steps
hold it a billion times. In memory that costs nothing, but the encoder of the result pays for every copy. So before a
built value leaves, its copies are counted against the size budget. The first occurrence of a part is free there: it
was charged when it was built, or it is data that was there before. Each part is visited once, and the visit is charged:
`[input]` is short, but its value is as long as the input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.expressions.values import as_list, as_map

if TYPE_CHECKING:
    from layover.core.expressions.limits import Meter

_PARTS_PER_STEP = 16
_FREE = 16  # text no longer than this is not worth remembering


def charge_copies(value: object, meter: Meter) -> None:
    """Charge the size of a value written out, beyond its size in memory."""
    weights: dict[int, int] = {}
    kept: list[object] = []  # values remembered by identity must stay alive
    once = looked_at = 0
    pending: list[tuple[object, list[object] | None]] = [(value, None)]
    while pending:
        part, parts = pending.pop()
        if parts is not None:
            weights[id(part)] = len(parts) + sum(weights.get(id(inner), _weight(inner)) for inner in parts)
            continue
        if id(part) in weights:
            continue
        weights[id(part)] = 0
        kept.append(part)
        parts = _parts(part)
        looked_at += 1 + len(parts)
        if looked_at >= _PARTS_PER_STEP:
            meter.charge(looked_at // _PARTS_PER_STEP)
            looked_at %= _PARTS_PER_STEP
        pending.append((part, parts))
        once += len(parts)
        for inner in parts:
            if type(inner) is str:
                if len(inner) > _FREE and id(inner) not in weights:
                    weights[id(inner)] = len(inner)
                    once += len(inner)
                elif len(inner) <= _FREE:
                    once += len(inner)
            elif _is_container(inner) and id(inner) not in weights:
                pending.append((inner, None))
    meter.charge(0, weights[id(value)] - once)


def _weight(value: object) -> int:
    return len(value) if type(value) is str else 0


def _is_container(value: object) -> bool:
    return type(value) in {list, dict} or as_list(value) is not None or as_map(value) is not None


def _parts(value: object) -> list[object]:
    """Return the direct parts of a container, keys included."""
    entries = as_map(value)
    if entries is not None:
        return [*entries.keys(), *entries.values()]
    return list(as_list(value) or ())
