"""When the pause of an operator ends by itself."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from layover.model.shared import Body, Resource

MomentText = Annotated[
    str,
    Meta(
        max_length=64, description="A moment such as `2026-11-20T08:00:00Z`.", extra_json_schema={"format": "date-time"}
    ),
]
CronLine = Annotated[str, Meta(max_length=200, description="Five fields, such as `0 8 * * MON`, or `@daily`.")]
ZoneName = Annotated[str, Meta(max_length=64, description="A time zone such as `Europe/Berlin`. Default: UTC.")]
_SignalName = Annotated[str, Meta(min_length=1, max_length=255, examples=["payment.settled"])]
_SignalKey = Annotated[str, Meta(max_length=255)]
_Filter = Annotated[
    str, Meta(max_length=1_000, description="An expression in which `signal` is known, such as `signal.data.ok`.")
]


class ResumeSignal(Resource, frozen=True, kw_only=True):
    """The signal that ends a pause: its name and key, and a filter that it has to pass, unless that is empty."""

    signal: str
    key: str = ""
    filter: str = ""


class ResumeSignalBody(Body, frozen=True, kw_only=True):
    """The signal that ends a pause; one that does not pass the filter does not end it."""

    signal: _SignalName
    key: _SignalKey = ""
    filter: _Filter = ""


def signal_body(on: ResumeSignal | None) -> ResumeSignalBody | None:
    """Return a signal as it is asked for."""
    return None if on is None else ResumeSignalBody(signal=on.signal, key=on.key, filter=on.filter)
