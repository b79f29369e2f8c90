"""Definitions, their versions, and whether they may be started."""

from __future__ import annotations

from layover.api.routing import Routes

routes = Routes("Workflows", "Definitions, their versions, and whether they may be started.", prefix="/api/v1")
