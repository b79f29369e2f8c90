"""Data with templates in it, made ready once and filled many times.

Whatever has no template in it is taken as it stands and shared, never copied: who receives filled data does not
change it.
"""

from __future__ import annotations

from types import NoneType
from typing import TYPE_CHECKING, TypeAlias

from layover.core.expressions import to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from layover.core.expressions import Meter, Moment, Template

_DATA = frozenset({dict, list, str, int, float, bool, NoneType})
_Fill: TypeAlias = "Callable[[Mapping[str, object], Moment, Meter], object]"


class Renderer:
    """One value of a definition; `constant` if no template stands in it, `timeless` if none can ask for the moment.

    A `single` one is one value from the data; any other may put several together.
    """

    __slots__ = ("_fill", "constant", "single", "timeless")

    def __init__(self, fill_in: _Fill, *, constant: bool, single: bool, timeless: bool) -> None:
        self._fill = fill_in
        self.constant = constant
        self.single = single
        self.timeless = timeless

    def render(self, context: Mapping[str, object], moment: Moment, meter: Meter) -> object:
        """Return the value as JSON data, every template in it replaced by what it gives."""
        return self._fill(context, moment, meter)


def fill(value: object, template_of: Callable[[str], Template]) -> Renderer:
    """Make a value ready; `template_of` parses a text, which has been checked before."""
    found: list[Template] = []

    def noted(text: str) -> Template:
        found.append(template_of(text))
        return found[-1]

    fill_in = _fill_of(value, noted)
    if fill_in is None:
        return Renderer(lambda _context, _moment, _meter: value, constant=True, single=True, timeless=True)
    single = isinstance(value, str) and found[0].reads_one_value()
    timeless = all(one.reader() is not None for one in found)
    return Renderer(fill_in, constant=False, single=single, timeless=timeless)


def _fill_of(value: object, template_of: Callable[[str], Template]) -> _Fill | None:
    """Return what fills a value, or None if there is nothing to fill."""
    if isinstance(value, str):
        return _fill_of_text(value, template_of) if "${" in value else None
    if isinstance(value, dict):
        return _fill_of_mapping(value, template_of)
    if isinstance(value, list):
        return _fill_of_list(value, template_of)
    return None


def _fill_of_text(text: str, template_of: Callable[[str], Template]) -> _Fill:
    template = template_of(text)
    read = template.reader()
    if read is None:
        render = template.render
        return lambda context, moment, meter: to_json(render(context, moment, meter), meter)

    def fill_in(context: Mapping[str, object], _moment: Moment, meter: Meter) -> object:
        value = read(context)
        # A part of the data is JSON already, and walking through it would cost its size. A view is not.
        return value if type(value) in _DATA else to_json(value, meter)

    return fill_in


def _fill_of_mapping(value: dict[str, object], template_of: Callable[[str], Template]) -> _Fill | None:
    parts = [(key, filled) for key, child in value.items() if (filled := _fill_of(child, template_of)) is not None]
    if not parts:
        return None

    def fill_in(context: Mapping[str, object], moment: Moment, meter: Meter) -> object:
        filled = value.copy()
        for key, part in parts:
            filled[key] = part(context, moment, meter)
        return filled

    return fill_in


def _fill_of_list(value: list[object], template_of: Callable[[str], Template]) -> _Fill | None:
    parts = [_fill_of(child, template_of) for child in value]
    if not any(parts):
        return None

    def fill_in(context: Mapping[str, object], moment: Moment, meter: Meter) -> object:
        return [
            part(context, moment, meter) if part is not None else child
            for part, child in zip(parts, value, strict=True)
        ]

    return fill_in
