"""Types at the edge: what a node is given becomes what its function's parameters say, and what it returns is checked.

Everything is worked out when the function is registered; a call is one conversion and, if the result is annotated, one
look at the result. Parameters without an annotation take what they are given, and a function without any annotation is
called as if this did not exist. Classes of pydantic are known by their methods; it is never imported.
"""

from __future__ import annotations

import inspect
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import msgspec

from layover.core.errors import LayoverError
from layover.core.suggest import did_you_mean
from layover.nodes.annotations import BadFunction, fits_json
from layover.nodes.misfits import BadValue, from_model, has_models, told, whole_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_convert = msgspec.convert


class BadInput(LayoverError):  # noqa: N818 - it says what the input is
    """An input that does not fit the parameters of a function, which was not called; another attempt would not help."""

    code = "bad_input"
    retryable = False


class Arguments:
    """The typed parameters of one function, as one struct that msgspec fills."""

    __slots__ = ("_bound", "_hook", "_names", "_open", "_struct", "_values", "by_position", "rest")

    def __init__(self, name: str, parameters: Sequence[inspect.Parameter], hints: Mapping[str, object]) -> None:
        taken = [one for one in parameters if one.kind in _NAMED and _is_possible(name, one, hints)]
        self._names = [one.name for one in taken]
        self._open = any(one.kind is one.VAR_KEYWORD for one in parameters)
        self.rest = next((hints.get(one.name, Any) for one in parameters if one.kind is one.VAR_KEYWORD), Any)
        self.by_position = len(taken) == len(parameters) and all(one.kind is not one.KEYWORD_ONLY for one in taken)
        fields = [_field(one, hints.get(one.name, Any)) for one in taken]
        self._struct = msgspec.defstruct("Arguments", fields, kw_only=True, forbid_unknown_fields=not self._open)
        self._hook = from_model if has_models(*(hints.get(one.name, Any) for one in taken), self.rest) else None
        self._values: Callable[[object], tuple[object, ...]] = _values_of(self._names)
        self._bound = name

    def in_order(self, given: dict[str, object]) -> tuple[object, ...]:
        """Return the arguments by position."""
        try:
            return self._values(_convert(given, self._struct, str_keys=True, dec_hook=self._hook))
        except msgspec.ValidationError:
            return self._values(self._as_json_has_it(given))

    def by_name(self, given: dict[str, object]) -> dict[str, object]:
        """Return the arguments by name, and with them whatever else a function with `**` takes."""
        try:
            filled: object = _convert(given, self._struct, str_keys=True, dec_hook=self._hook)
        except msgspec.ValidationError:
            filled = self._as_json_has_it(given)
        named = dict(zip(self._names, self._values(filled), strict=True))
        if self._open:
            for key in given.keys() - named.keys():
                named[key] = self._other(key, given[key])
        return named

    def _as_json_has_it(self, given: dict[str, object]) -> object:
        """Try once more, for to JSON `1.0` is a whole number; then say what is wrong."""
        unknown = [] if self._open else [key for key in given if key not in self._names]
        if unknown:
            sentence = f"{unknown[0]}: `{self._bound}` takes no such argument."
            raise BadInput(sentence + did_you_mean(unknown[0], self._names))
        try:
            return _convert(whole_numbers(given), self._struct, str_keys=True, dec_hook=self._hook)
        except msgspec.ValidationError as error:
            raise BadInput(told(error)) from error

    def _other(self, key: str, value: object) -> object:
        try:
            return _convert(value, self.rest, str_keys=True, dec_hook=self._hook)
        except msgspec.ValidationError as error:
            raise BadInput(told(error, key)) from error


_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_EMPTY: Final = inspect.Parameter.empty


def arguments_of(
    name: str, parameters: Sequence[inspect.Parameter], hints: Mapping[str, object]
) -> Arguments | None:
    """Return how to make the arguments of a function; None if it takes whatever it is given."""
    if all(hints.get(one.name, Any) in (Any, object) for one in parameters):
        return None
    return Arguments(name, parameters, hints)


def misfit(name: str, function: Callable[..., object], named: Mapping[str, object]) -> BadInput | None:
    """Return why a function without types cannot be called with some arguments; None if that is not the reason."""
    try:
        signature = inspect.signature(function)
        signature.bind(**named)
    except TypeError as error:
        unknown = [key for key in named if key not in signature.parameters]
        guess = did_you_mean(unknown[0], signature.parameters) if unknown else ""
        return BadInput(f"`{name}` cannot be called like this: {error}.{guess}")
    return None


def _is_possible(name: str, parameter: inspect.Parameter, hints: Mapping[str, object]) -> bool:
    """Return whether a parameter can be given by a workflow; one that cannot needs a default."""
    problem = fits_json(hints.get(parameter.name, Any))
    if problem is None:
        return True
    if parameter.default is _EMPTY:
        raise BadFunction(f"`{name}` cannot be a node: no JSON becomes its parameter `{parameter.name}`: {problem}.")
    return False


def _field(parameter: inspect.Parameter, kind: object) -> tuple[str, Any, Any]:
    default = parameter.default
    if default is _EMPTY:
        return parameter.name, kind, msgspec.NODEFAULT
    return parameter.name, kind, msgspec.field(default_factory=lambda: default)


def _values_of(names: Sequence[str]) -> Callable[[object], tuple[object, ...]]:
    if len(names) == 1:  # for which an attrgetter gives the value itself
        one = attrgetter(names[0])
        return lambda filled: (one(filled),)
    return attrgetter(*names) if names else lambda _filled: ()


__all__ = ["Arguments", "BadFunction", "BadInput", "BadValue", "arguments_of", "misfit"]
