"""Examples made from the declarations alone: every field has a value, and none of them is its default."""

from __future__ import annotations

import builtins
from typing import TypeVar

import msgspec
from msgspec import inspect

T = TypeVar("T", bound=msgspec.Struct)

DATA = {"n": [1, 2.5, None, True], "é": "ü\n"}


def example(struct: type[T]) -> T:
    """Return an example of a struct."""
    described = inspect.type_info(struct)
    assert isinstance(described, inspect.StructType)
    return struct(**{field.name: _value(field.type, field.name, field.default) for field in described.fields})


def structs_within(declared: object) -> set[type[msgspec.Struct]]:
    """Return every struct that a declared type is made of."""
    found: set[type[msgspec.Struct]] = set()
    _collect(inspect.type_info(declared), found)
    return found


def fields_set(value: object) -> set[tuple[type[msgspec.Struct], str]]:
    """Return which fields of which structs have a value other than their default, anywhere in a value."""
    found: set[tuple[type[msgspec.Struct], str]] = set()
    rest = [value]
    while rest:
        part = rest.pop()
        if isinstance(part, msgspec.Struct):
            for field in msgspec.structs.fields(part):
                own = getattr(part, field.name)
                if field.required or own not in (field.default, {}, []):
                    found.add((type(part), field.name))
                    rest.append(own)
        elif isinstance(part, dict):
            rest.extend(part.values())
        elif isinstance(part, list | tuple):
            rest.extend(part)
    return found


def fields_within(declared: object) -> set[tuple[type[msgspec.Struct], str]]:
    """Return every field of every struct that a declared type is made of."""
    return {(struct, name) for struct in structs_within(declared) for name in struct.__struct_fields__}


def _collect(kind: inspect.Type, found: set[type[msgspec.Struct]]) -> None:
    if isinstance(kind, inspect.StructType):
        if kind.cls not in found:
            found.add(kind.cls)
            for field in kind.fields:
                _collect(field.type, found)
    elif isinstance(kind, inspect.UnionType):
        for member in kind.types:
            _collect(member, found)
    elif isinstance(kind, inspect.ListType | inspect.VarTupleType):
        _collect(kind.item_type, found)
    elif isinstance(kind, inspect.TupleType):
        for member in kind.item_types:
            _collect(member, found)
    elif isinstance(kind, inspect.DictType):
        _collect(kind.value_type, found)


def _value(kind: inspect.Type, name: str, default: object) -> object:
    match kind:
        case inspect.StructType():
            return example(kind.cls)
        case inspect.UnionType():
            return _value(next(one for one in kind.types if not isinstance(one, inspect.NoneType)), name, default)
        case inspect.VarTupleType():
            return (_value(kind.item_type, name, default),)
        case inspect.TupleType():
            return tuple(_value(one, name, default) for one in kind.item_types)
        case inspect.ListType():
            return [_value(kind.item_type, name, default)]
        case inspect.DictType():
            return {_value(kind.key_type, "key", default): _value(kind.value_type, name, default)}
        case inspect.LiteralType():
            return next(value for value in reversed(kind.values) if value != default)
        case _:
            return _scalar(kind, name, default)


def _scalar(kind: inspect.Type, name: str, default: object) -> object:
    match kind:
        case inspect.BoolType():
            return not default
        case inspect.IntType():
            return 7
        case inspect.FloatType():
            return 0.5
        case inspect.StrType():
            return f"some {name}"
        case inspect.AnyType() | inspect.CustomType(cls=builtins.object):
            return DATA
        case _:
            raise TypeError(f"no example for {kind}")
