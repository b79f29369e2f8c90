"""A server with something of everything that a path can name, and for each act one that nothing else is done to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from layover.api.openapi_examples import DEFINITION
from tests.runtime.harness import flow

if TYPE_CHECKING:
    from tests.api.harness import Api

EXECUTION: Final = "0195f2a6-7c00-7000-8000-5d1e0f3a9b42"  # as the document has it for an example
_CALLED_BACK: Final = {"id": "print", "type": "callback", "call": "hold", "input": {"token": "${callback.token}"}}
_FAILS: Final = {"id": "fails", "type": "compute", "output": "${input.amount / 0}"}
_ACTS_ON_EXECUTIONS: Final = ("pause_execution", "resume_execution", "cancel_execution", "rewind_execution")
_ACTS_ON_POINTS: Final = ("answer_point", "cancel_point", "approve", "reject", "resume_point", "cancel_resume")
_ACTS_ON_WORKFLOWS: Final = ("activate", "deactivate", "pause_workflow", "resume_workflow", "delete_workflow")


class Tokens:
    """A function that keeps the tokens of callbacks that it is called with."""

    def __init__(self) -> None:
        self.given: list[str] = []

    async def hold(self, token: str) -> None:
        """Keep a token."""
        self.given.append(token)


async def furnish(api: Api, tokens: Tokens) -> dict[str, dict[str, str]]:
    """Have something there for every operation, and return what its path is filled in with."""
    # nobody is called, and anybody may decide
    instead = {
        "pay": {"id": "pay", "type": "set", "values": {"paid": True}},
        "review": {"id": "review", "type": "approval", "title": "May we?"},
    }
