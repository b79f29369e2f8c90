"""Conversion between JSON and the types of a program: pydantic models, whole numbers, and messages about misfits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from layover.nodes.annotations import is_model

if TYPE_CHECKING:
    from collections.abc import Callable

    import msgspec

_AT = re.compile(r"(.*) - at `\$?(.*?)`", re.DOTALL).fullmatch
_KEY_AT = re.compile(r"(.*) - at `key.* in `\$?(.*?)``?", re.DOTALL).fullmatch
_MISSING = re.compile(r"Object missing required field `(.*)`").fullmatch
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`").fullmatch


class Model(Protocol):
    """The part of a pydantic model that we use."""

    model_config: ClassVar[Any]

    @classmethod
    def model_validate(cls, obj: object) -> object: ...  # noqa: D102 - pydantic's own

    @classmethod
    def model_json_schema(cls) -> dict[str, object]: ...  # noqa: D102 - pydantic's own

    def model_dump(self, *, mode: str) -> object: ...  # noqa: D102 - pydantic's own


class _ModelMisfit(ValueError):  # noqa: N818 - it says what the value is
    """A value that a model refuses: the place inside it, and the reason."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(message)
        self.place = place
        self.message = message


def to_model(kind: type, value: object) -> object:
    """Convert to a type that msgspec does not know: a pydantic model; `object` takes any value."""
    if not is_model(kind) or isinstance(value, kind):
        return value
    try:
        return kind.model_validate(value)
    except ValueError as error:
        raise _refused(error) from error


def from_model(value: object) -> object:
    """Convert a value that msgspec does not know: a pydantic model."""
    if is_model(type(value)):
        dump: Callable[..., object] = value.model_dump  # type: ignore[attr-defined]  # a model has it
        return dump(mode="json")
    raise TypeError(f"{type(value).__name__} is not a JSON type")


def whole_numbers(value: object, *, truths: bool = False) -> object:
    """Return plain data with `1.0` as 1; and, if wanted, true as 1, as in Python."""
    if isinstance(value, dict):
        return {key: whole_numbers(part, truths=truths) for key, part in value.items()}
    if isinstance(value, list):
        return [whole_numbers(part, truths=truths) for part in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return int(value) if truths and isinstance(value, bool) else value


def misfit_message(error: msgspec.ValidationError, within: str = "") -> str:
    """Return the misfit of an error as `place: expected this, got that`."""
    text = str(error)
    found = _AT(text) or _KEY_AT(text)
    message, place = (found[1], found[2]) if found else (text, "")
    cause = error.__cause__
    if isinstance(cause, _ModelMisfit):
        message, place = cause.message, place + cause.place
    for pattern, sentence in ((_MISSING, "it is missing"), (_UNKNOWN, "there is no such field")):
        field = pattern(message)
        if field:
            message, place = sentence, f"{place}.{field[1]}"
    whole = (within + place).removeprefix(".")
    plain = message.replace("`", "")
    plain = plain[:1].lower() + plain[1:]
    return f"{whole}: {plain}" if whole else plain


def _refused(error: ValueError) -> _ModelMisfit:
    """Return the first error of a model."""
    errors: Callable[[], list[dict[str, Any]]] | None = getattr(error, "errors", None)
    first = errors()[0] if errors is not None else {}
    place = "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in first.get("loc", ()))
    return _ModelMisfit(place, str(first.get("msg", error)))
