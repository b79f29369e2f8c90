"""Start executions, and see what became of them."""

from __future__ import annotations

from layover.api.routing import Routes

routes = Routes("Executions", "Start executions, and see what became of them.", prefix="/api/v1")
