"""What systems outside tell executions."""

from __future__ import annotations

from layover.api.routing import Routes

routes = Routes("Signals and callbacks", "What systems outside tell executions.", prefix="/api/v1")
