"""Typed inputs: the input of a node becomes the arguments that its function's parameters declare.

Everything is prepared when the function is registered; a call is one conversion. Parameters without an annotation take
any value, and a function without annotations is called directly. A wrong call in the sense of Python (one argument too
many, one missing) is reported in a sentence before anything is called.
"""

from __future__ import annotations

import inspect
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import msgspec

from layover.core.definitions import Parameters
from layover.core.suggest import did_you_mean
from layover.errors import LayoverError
from layover.nodes.annotations import BadFunction, custom_types, fits_json, is_model
from layover.nodes.conversion import misfit_message, to_model, whole_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_convert = msgspec.convert
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_EMPTY: Final = inspect.Parameter.empty


class BadInput(LayoverError):  # noqa: N818 - it says what the input is
    """An input that does not fit the parameters of a function, which was not called; another attempt would not help."""

    code = "bad_input"
    retryable = False


class Arguments:
    """The typed parameters of one function, as one struct that msgspec fills."""

    __slots__ = ("_function", "_hook", "_names", "_rest", "_struct", "_values", "by_position", "parameters")

    def __init__(self, name: str, parameters: Sequence[inspect.Parameter], hints: Mapping[str, object]) -> None:
        types = {one.name: hints.get(one.name, Any) for one in parameters}
        possible = [one for one in parameters if _is_possible(name, one, types[one.name])]
        taken = [one for one in possible if one.kind in _NAMED]
        fields = [_field(one, types[one.name]) for one in taken]
        self._function = name
        self._names = [one.name for one in taken]
        self._rest = next((types[one.name] for one in possible if one.kind is one.VAR_KEYWORD), None)
        self._struct = msgspec.defstruct("Arguments", fields, kw_only=True, forbid_unknown_fields=self._rest is None)
        self._values = _values_of(self._names)
        has_model = any(is_model(one) for kind in types.values() for one in _custom(kind))
        self._hook = to_model if has_model else None
        self.parameters = _parameters(taken, takes_others=self._rest is not None)
        self.by_position = [one.kind for one in parameters] == [inspect.Parameter.POSITIONAL_OR_KEYWORD] * len(taken)

    def in_order(self, given: dict[str, object]) -> tuple[object, ...]:
        """Return the arguments by position."""
        return self._values(self._filled(given))

    def by_name(self, given: dict[str, object]) -> dict[str, object]:
        """Return the arguments by name, including those that a function with `**` takes."""
        named = dict(zip(self._names, self._values(self._filled(given)), strict=True))
        if self._rest is not None:
            rest = {key: self._other(key, value) for key, value in given.items() if key not in named}
            named |= rest
        return named

    def _filled(self, given: dict[str, object]) -> object:
        try:
            return _convert(given, self._struct, str_keys=True, dec_hook=self._hook)
        except msgspec.ValidationError:
            unknown = [] if self._rest is not None else [key for key in given if key not in self._names]
            if unknown:
                guess = did_you_mean(unknown[0], self._names)
                raise BadInput(f"{unknown[0]:.100}: `{self._function}` does not take this argument.{guess}") from None
        try:
            # In JSON, `1.0` is a whole number: it may be the result of a computation with fractions.
            return _convert(whole_numbers(given), self._struct, str_keys=True, dec_hook=self._hook)
        except msgspec.ValidationError as error:
            raise BadInput(misfit_message(error)) from error

    def _other(self, key: str, value: object) -> object:
        try:
            return _convert(value, self._rest, str_keys=True, dec_hook=self._hook)
        except msgspec.ValidationError as error:
            raise BadInput(misfit_message(error, key)) from error


def arguments_of(name: str, parameters: Sequence[inspect.Parameter], hints: Mapping[str, object]) -> Arguments | None:
    """Return the conversion to the arguments of a function; None if it takes any values."""
    if all(hints.get(one.name, Any) in (Any, object) for one in parameters):
        return None
    return Arguments(name, parameters, hints)


def parameters_of(function: Callable[..., object], taken: Sequence[inspect.Parameter]) -> Parameters | None:
    """Return the parameters of a function without types; None if a wrapper may take others than the function."""
    if inspect.signature(function) != inspect.signature(function, follow_wrapped=False):
        return None
    rest = any(one.kind is one.VAR_KEYWORD for one in taken)
    return _parameters([one for one in taken if one.kind in _NAMED], takes_others=rest)


def misfit(name: str, function: Callable[..., object], named: Mapping[str, object]) -> BadInput | None:
    """Return why a function cannot be called with some arguments; None if that was not the reason of its failure."""
    signature = inspect.signature(function)
    try:
        signature.bind(**named)
    except TypeError as error:
        unknown = [key for key in named if key not in signature.parameters]
        guess = did_you_mean(unknown[0], signature.parameters) if unknown else ""
        return BadInput(f"`{name}` cannot be called like this: {error}.{guess}")
    return None


def _parameters(named: Sequence[inspect.Parameter], *, takes_others: bool) -> Parameters:
    return Parameters(
        required=tuple(one.name for one in named if one.default is _EMPTY),
        optional=tuple(one.name for one in named if one.default is not _EMPTY),
        takes_others=takes_others,
    )


def _is_possible(name: str, parameter: inspect.Parameter, kind: object) -> bool:
    """Return whether a workflow can pass a parameter; one that it cannot pass needs a default."""
    problem = fits_json(kind)
    if problem is not None and parameter.default is _EMPTY and parameter.kind is not parameter.VAR_POSITIONAL:
        raise BadFunction(
            f"`{name}` cannot be a node: JSON cannot fill its parameter `{parameter.name}`: {problem}. Annotate it "
            "with a JSON type, with `object` to take any value, or give it a default."
        )
    return problem is None


def _custom(kind: object) -> Sequence[type]:
    return () if fits_json(kind) is not None else tuple(custom_types(kind))


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
