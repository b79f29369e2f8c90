"""Whether a server lives, and whether it can work."""

from __future__ import annotations

from typing import Literal

from layover.model.shared import Resource


class Health(Resource, frozen=True, kw_only=True):
    """The process answers; `failing` if another one in its place would do better."""

    status: Literal["ok", "failing"] = "ok"
    version: str


class Check(Resource, frozen=True, kw_only=True):
    """One thing that has to be right."""

    ok: bool
    detail: str = ""


class Readiness(Resource, frozen=True, kw_only=True):
    """Whether work can be done here: each of the checks says why not."""

    status: Literal["ready", "not_ready"]
    instance: str = ""
    checks: dict[str, Check]
