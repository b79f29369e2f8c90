"""Every part of a definition, with the fields that say where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.definitions.model import Part

if TYPE_CHECKING:
    from collections.abc import Iterator

Step = tuple[str, int | None]
Path = tuple[Step, ...]


def parts_of(part: Part, path: Path = ()) -> Iterator[tuple[Path, Part]]:
    """Return a part and all parts in it; a step of a path is a field and, if it is a list, the place in it."""
    yield path, part
    for field in part.__struct_fields__:
        value = getattr(part, field)
        if isinstance(value, Part):
            yield from parts_of(value, (*path, (field, None)))
        elif isinstance(value, tuple):
            for index, item in enumerate(value):
                if isinstance(item, Part):
                    yield from parts_of(item, (*path, (field, index)))
