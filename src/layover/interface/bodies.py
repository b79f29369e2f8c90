"""Arguments that become the body of a request: they are read as a server reads them, and refused alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from layover.core.payloads import plain
from layover.errors import InvalidInput
from layover.interface.misfits import misfit_of

B = TypeVar("B", bound=msgspec.Struct)


def body_of(given: object, wanted: type[B], example: str) -> B:
    """Return what was given as a body; InvalidInput says what is wrong with it, and where."""
    if isinstance(given, wanted):
        return given
    if not isinstance(given, Mapping):
        raise invalid_body("", f"it is a mapping, such as {example}")
    try:
        return msgspec.convert(plain(dict(given)), wanted)
    except msgspec.ValidationError as error:
        misfit = misfit_of(str(error), wanted)
        raise invalid_body(misfit.path, misfit.message) from error


def invalid_body(path: str, fault: str) -> InvalidInput:
    """Return the error for something in a body."""
    message = f"`{path}`: {fault}." if path else f"{fault}."
    return InvalidInput(message, ((path, fault),), code="invalid_body")
