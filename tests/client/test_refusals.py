"""What a server refuses is the error that an engine raises, with all that it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover import (
    AlreadyExists,
    AnswerRefused,
    InvalidDefinition,
    InvalidInput,
    LayoverError,
    LimitReached,
    MissingFunctions,
    NotAllowed,
    NotFound,
    Problem,
    RateLimited,
    RequestPolicy,
    Winner,
    WrongState,
)
from tests.client.scripted import Hurried, problem, scripted

if TYPE_CHECKING:
    from tests.client.scripted import Says

ONCE = RequestPolicy(tries=1)


async def _raised(says: Says) -> LayoverError:
    async with scripted(says) as server, Hurried(server.url, ONCE) as hurried:
        with pytest.raises(LayoverError) as raised:
            await hurried.execution.resume(approved=True)
    return raised.value


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "unauthenticated", NotAllowed),
        (403, "forbidden", NotAllowed),
        (404, "unknown_execution", NotFound),
        (409, "idempotency_mismatch", AlreadyExists),
        (422, "payload_reserved", InvalidInput),
        (500, "internal", LayoverError),
        (418, "of_a_later_release", LayoverError),
    ],
)
async def test_a_code_is_a_class(status: int, code: str, kind: type[LayoverError]) -> None:
    error = await _raised(problem(status, code))
    assert type(error) is kind
    assert (error.code, error.message, error.request_id) == (code, f"It is {code}.", "r1")


async def test_an_answer_that_came_too_late_names_the_winner() -> None:
    said = problem(
        409,
        "already_answered",
        errors=[{"path": "a.b", "message": "wrong"}],
        winner={"by": "ada", "at": None, "answer": 5},
        from_a_later_release=True,
    )
    error = await _raised(said)
    assert isinstance(error, AnswerRefused)
    assert error.errors == (("a.b", "wrong"),)
    assert error.winner == Winner(by="ada", at=None, answer=5)


async def test_fields_of_other_errors() -> None:
    wrong = await _raised(problem(409, "wrong_state", current_status="cancelled"))
    assert isinstance(wrong, WrongState)
    assert wrong.current_status == "cancelled"
    full = await _raised(problem(409, "limit_reached", holders=["x", "y"]))
    assert isinstance(full, LimitReached)
    assert full.holders == ("x", "y")
    fast = await _raised(problem(429, "rate_limited", ("Retry-After", "7"), retry_after=7))
    assert isinstance(fast, RateLimited)
    assert fast.retry_after == 7
    missing = await _raised(problem(409, "missing_functions", execution_id="e", functions=["pay"]))
    assert isinstance(missing, MissingFunctions)
    assert (missing.execution_id, missing.types) == ("e", ("pay",))


async def test_problems_of_a_definition_have_lines_where_it_was_text() -> None:
    errors = [{"path": "$.nodes", "message": "missing", "code": "required", "line": 1, "column": 2}]
    for definition, line, column in (("name: x", 1, 2), ({"name": "x"}, None, None)):
        said = problem(422, "invalid_definition", errors=errors)
        async with scripted(said) as server, Hurried(server.url) as hurried:
            with pytest.raises(InvalidDefinition) as raised:
                await hurried.client.register(definition)
        expected = Problem(code="required", path="$.nodes", message="missing", line=line, column=column)
        assert raised.value.problems == (expected,)
        assert raised.value.request_id == "r1"
