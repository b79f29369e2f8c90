"""Samples as the text that Prometheus reads (version 0.0.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.metrics.families import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.metrics.families import Family
    from layover.metrics.samples import Samples

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_ESCAPED: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def render(samples: Samples) -> bytes:
    """Return all metrics as text, in the order in which they are declared."""
    by_name: dict[str, list[tuple[tuple[str, ...], list[float]]]] = {}
    for (name, values), numbers in samples.items():
        by_name.setdefault(name, []).append((values, numbers))
    lines = [line for family in FAMILIES for line in _family(family, sorted(by_name.pop(family.name, ())))]
    if by_name:
        raise ValueError(f"These metrics are not declared: {', '.join(sorted(by_name))}.")
    return "".join(f"{line}\n" for line in lines).encode()


def _family(family: Family, series: list[tuple[tuple[str, ...], list[float]]]) -> Iterator[str]:
    yield f"# HELP {family.name} {family.help}"
    yield f"# TYPE {family.name} {family.kind}"
    for values, numbers in series:
        labels = [f'{label}="{value.translate(_ESCAPED)}"' for label, value in zip(family.labels, values, strict=True)]
        if family.kind == "histogram":
            yield from _histogram(family, labels, numbers)
        elif family.kind == "summary":
            total, count = numbers
            yield _line(f"{family.name}_sum", labels, total)
            yield _line(f"{family.name}_count", labels, count)
        else:
            yield _line(family.name, labels, numbers[0])


def _histogram(family: Family, labels: list[str], numbers: list[float]) -> Iterator[str]:
    """Yield how many values were at most so large, for each bound."""
    total, *counts = numbers
    so_far = 0.0
    for bound, count in zip([*map(repr, family.bounds), "+Inf"], counts, strict=True):
        so_far += count
        yield _line(f"{family.name}_bucket", [*labels, f'le="{bound}"'], so_far)
    yield _line(f"{family.name}_sum", labels, total)
    yield _line(f"{family.name}_count", labels, so_far)


def _line(name: str, labels: list[str], value: float) -> str:
    shown = f"{{{','.join(labels)}}}" if labels else ""
    return f"{name}{shown} {float(value)!r}"
