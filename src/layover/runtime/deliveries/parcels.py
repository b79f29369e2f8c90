"""What a delivery says, rendered when its occasion was expanded: the same at every attempt."""

from __future__ import annotations

from typing import Literal

import msgspec


class ToldPoint(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is told of a pause point."""

    id: str
    title: str = ""
    kind: str = ""
    deadline: int | None = None


class LinkToken(msgspec.Struct, frozen=True, kw_only=True):
    """A token that is put into a text while it is sent: what stands in its place, and with which key it is made."""

    token: Literal["decide"] = msgspec.field(default="decide", name="$token")
    key: str
    mark: str


class Parcel(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The body of a delivery, as its row keeps it in JSON.

    `via` is the destination itself if a definition has it inline: it has no name under which it could be found.
    """

    kind: str
    at: int  # when it happened
    workflow: str = ""
    hash: str = ""  # of the definition, which may ask to be told that this was given up
    execution_id: str | None = None
    point: ToldPoint | None = None
    people: tuple[str, ...] = ()  # users
    subject: str = ""
    text: str = ""
    link: str = ""
    link_token: LinkToken | None = None
    data: dict[str, object] = {}
    first: str = ""  # the id of the first mail about the same point, to which this one belongs
    via: dict[str, object] | None = None
    reports_on: str = ""  # the destination or the trigger that it tells of
    is_usual: bool = False  # subject and text are the usual ones of the kind: webhooks do without them


def read_parcel(body: bytes) -> Parcel:
    """Return the body of a delivery."""
    return msgspec.json.decode(body, type=Parcel)


def write_parcel(parcel: Parcel) -> bytes:
    """Return the body of a delivery in JSON."""
    return msgspec.json.encode(parcel)
