"""People: how they can be reached."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from msgspec import Meta

from layover.core.moments import Moment
from layover.core.notifications import OccasionKind
from layover.model.shared import Body, Resource

ALL: Final = "all"
MutedKind: TypeAlias = Literal["all"] | OccasionKind

_Short = Annotated[str, Meta(max_length=255)]


class Absence(Resource, frozen=True, kw_only=True):
    """Until when a person is away, and who stands in."""

    until: Moment
    substitute: str | None = None


class Person(Resource, frozen=True, kw_only=True):
    """A person of the directory."""

    user: str
    roles: tuple[str, ...] = ()
    addresses: dict[str, str] = {}  # by kind: `mail`, `chat`
    language: str = ""
    zone: str = ""
    away: Absence | None = None
    mute: tuple[str, ...] = ()  # kinds of occasions that they are not told of, or `all`


class AbsenceBody(Body, frozen=True, kw_only=True):
    """Until when a person is away, and who stands in."""

    until: _Short
    substitute: _Short | None = None


class PersonBody(Body, frozen=True, kw_only=True):
    """A person to be created or replaced."""

    roles: Annotated[tuple[_Short, ...], Meta(max_length=100)] = ()
    addresses: Annotated[dict[_Short, _Short], Meta(max_length=10)] = {}
    language: Annotated[str, Meta(max_length=35)] = ""
    zone: Annotated[str, Meta(max_length=64)] = ""
    away: AbsenceBody | None = None
    mute: Annotated[tuple[MutedKind, ...], Meta(max_length=50)] = ()
