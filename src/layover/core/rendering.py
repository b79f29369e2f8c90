"""Data with templates in it, prepared once and rendered many times.

Data without a template is taken as it is and shared, never copied: receivers of rendered data must not change it.
"""

from __future__ import annotations

from types import NoneType
from typing import TYPE_CHECKING, TypeAlias

from layover.core.expressions import to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from layover.core.expressions import ExpressionTime, Meter, Template

_DATA = frozenset({dict, list, str, int, float, bool, NoneType})
_Render: TypeAlias = "Callable[[Mapping[str, object], ExpressionTime, Meter], object]"


class Renderer:
    """One value of a definition; `constant` if it has no template, `timeless` if none of them can use the time.

    A `single` one gives one value from the data; any other may combine several.
    """

    __slots__ = ("_render", "constant", "single", "timeless")

    def __init__(self, render: _Render, *, constant: bool, single: bool, timeless: bool) -> None:
        self._render = render
        self.constant = constant
        self.single = single
        self.timeless = timeless

    def render(self, context: Mapping[str, object], moment: ExpressionTime, meter: Meter) -> object:
        """Return the value as JSON data, with every template in it replaced by its result."""
        return self._render(context, moment, meter)


def prepare(value: object, template_of: Callable[[str], Template]) -> Renderer:
    """Prepare a value; `template_of` parses a text that has been checked before."""
    found: list[Template] = []

    def remember(text: str) -> Template:
        found.append(template_of(text))
        return found[-1]

    render = _render_of(value, remember)
    if render is None:
        return Renderer(lambda _context, _moment, _meter: value, constant=True, single=True, timeless=True)
    single = isinstance(value, str) and found[0].reads_one_value()
    timeless = all(one.reader() is not None for one in found)
    return Renderer(render, constant=False, single=single, timeless=timeless)


def _render_of(value: object, template_of: Callable[[str], Template]) -> _Render | None:
    """Return the function that renders a value, or None if there is no template in it."""
    if isinstance(value, str):
        return _render_of_text(value, template_of) if "${" in value else None
    if isinstance(value, dict):
        return _render_of_mapping(value, template_of)
    if isinstance(value, list):
        return _render_of_list(value, template_of)
    return None


def _render_of_text(text: str, template_of: Callable[[str], Template]) -> _Render:
    template = template_of(text)
    read = template.reader()
    if read is None:
        evaluate = template.render
        return lambda context, moment, meter: to_json(evaluate(context, moment, meter), meter)

    def render(context: Mapping[str, object], _moment: ExpressionTime, meter: Meter) -> object:
        value = read(context)
        # A part of the data is JSON already, and walking through it would cost its size. A view is not JSON yet.
        return value if type(value) in _DATA else to_json(value, meter)

    return render


def _render_of_mapping(value: dict[str, object], template_of: Callable[[str], Template]) -> _Render | None:
    parts = [
        (key, rendered) for key, child in value.items() if (rendered := _render_of(child, template_of)) is not None
    ]
    if not parts:
        return None

    def render(context: Mapping[str, object], moment: ExpressionTime, meter: Meter) -> object:
        rendered = value.copy()
        for key, part in parts:
            rendered[key] = part(context, moment, meter)
        return rendered

    return render


def _render_of_list(value: list[object], template_of: Callable[[str], Template]) -> _Render | None:
    parts = [_render_of(child, template_of) for child in value]
    if not any(parts):
        return None

    def render(context: Mapping[str, object], moment: ExpressionTime, meter: Meter) -> object:
        return [
            part(context, moment, meter) if part is not None else child
            for part, child in zip(parts, value, strict=True)
        ]

    return render
