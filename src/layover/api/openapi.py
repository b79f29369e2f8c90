"""The OpenAPI document, made from the declarations of the routes: it says what the endpoints do, and nothing else."""

from __future__ import annotations

import re
from collections import defaultdict
from http import HTTPStatus
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from layover.api.idempotency import LONGEST_KEY
from layover.api.openapi_examples import examples_of
from layover.api.openapi_schemas import Schemas, parameters_of
from layover.api.problems import STATUS
from layover.model.problems import ProblemDetails

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from layover.api.routing import Route, Routes

_ABOUT: Final = """\
Everything that a system does to Layover over the network.

Times are ISO-8601, UTC, with milliseconds. Lists are `{items, next}`; `next` goes back in as `cursor`. What goes wrong
is answered as `application/problem+json`: `code` is stable, `detail` is for people, `request_id` finds it in the log.
A POST with an `Idempotency-Key` is done once: the same request again gets the same answer.\
"""
_STREAM: Final = "text/event-stream"
_PARAMETER: Final = re.compile(r"\{(\w+)(?::\w+)?\}")
_WORKFLOW: Final[dict[str, Any]] = {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_.-]{0,254}$"}
_EXECUTION: Final[dict[str, Any]] = {"type": "string", "format": "uuid"}
_ID: Final[dict[str, Any]] = {"type": "string", "minLength": 1, "maxLength": 255}
# What stands in a path, by the word before it, or by its own name.
_IN_PATHS: Final[dict[str, tuple[dict[str, Any], str, str]]] = {
    "executions": (_EXECUTION, "The id of an execution.", "0195f2a6-7c00-7000-8000-5d1e0f3a9b42"),
    "execution": (_EXECUTION, "The id of an execution.", "0195f2a6-7c00-7000-8000-5d1e0f3a9b42"),
    "execution_id": (_EXECUTION, "The id of an execution.", "0195f2a6-7c00-7000-8000-5d1e0f3a9b42"),
    "workflows": (_WORKFLOW, "The name of a workflow.", "order"),
    "workflow": (_WORKFLOW, "The name of a workflow.", "order"),
    "context": ({"type": "string", "minLength": 1}, "The context id of a node.", "review:lines.2"),
    "context_id": ({"type": "string", "minLength": 1}, "The context id of a node.", "review:lines.2"),
    "pause-points": (_ID, "The id of a pause point.", "0195f2a6-7c00-8000-8000-5d1e0f3a9b42"),
    "approvals": (_ID, "The id of an approval: of its pause point.", "0195f2a6-7c00-8000-8000-5d1e0f3a9b42"),
    "callbacks": (_ID, "The token of a callback.", "Vk2f0sVq1yZ8mH3cT6wXbANx5e7Rj9-uPq_D4LgKtB0"),
    "triggers": (_EXECUTION, "The id of a trigger.", "0195f2a6-7c00-8000-8000-5d1e0f3a9b42"),
    "input": (_ID, "The id of an input.", "2026-03-01T09:30:00.000Z"),
    "{workflow}": (_ID, "The name of a trigger.", "paid"),
    "t": (_ID, "The token of a webhook.", "1Vk2f0sVq1yZ8mH3cT6wXbANx5e7Rj9-uPq_D4LgKtB0"),
    "destinations": (_ID, "The name of a destination.", "erp"),
    "batches": (_EXECUTION, "The id of a batch.", "0195f2a6-7c00-7000-8000-5d1e0f3a9b42"),
    "deliveries": (_EXECUTION, "The id of a delivery.", "0195f2a6-7c00-8000-8000-5d1e0f3a9b42"),
    "people": (_ID, "The name of a user.", "ada"),
    "views": (_ID, "The name of a saved view.", "broken"),
    "receipts": (_ID, "The user who has decided.", "ada"),
    "sessions": (_ID, "The id of a session.", "0195f2a6-7c00-7000-8000-3b5d1e0f9a4c"),
    "keys": (_ID, "The id of a key.", "0195f2a6-7c00-7000-8000-0c5d1e0f3a9b"),
}
_SCHEMES: Final[dict[str, Any]] = {
    "key": {"type": "http", "scheme": "bearer", "description": "A key, as it was shown when it was made."},
    "jwt": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "A token of an issuer that the server trusts: `sub` is the user, `roles` are the roles.",
    },
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "A key, in a header of its own."},
}
_HEADERS: Final[dict[str, Any]] = {
    "RequestId": {
        "description": "By which the request is found in the log: the `X-Request-Id` that was sent, or one made here.",
        "required": True,
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
    },
    "RetryAfter": {"description": "Seconds after which to try again.", "schema": {"type": "integer", "minimum": 1}},
    "ETag": {"description": "The view: the hash of what a person is shown.", "schema": {"type": "string"}},
    "Location": {"description": "Where to find what was made.", "schema": {"type": "string"}},
    "Replayed": {
        "description": "The request was answered before, and this is what it was answered.",
        "schema": {"type": "string", "const": "true"},
    },
    "Authenticate": {"description": "How to show who asks.", "schema": {"type": "string"}},
}
_KEY: Final[dict[str, Any]] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same request with the same key gets the same answer again, and nothing is done twice.",
    "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": "^[ -~]+$"},
}
_IF_MATCH: Final[dict[str, Any]] = {
    "name": "If-Match",
    "in": "header",
    "required": False,
    "description": "The ETag of the pause point that the person had seen; refused if it shows something else now.",
    "schema": {"type": "string", "maxLength": 66},
}
_LAST_SEEN: Final[dict[str, Any]] = {
    "name": "Last-Event-ID",
    "in": "header",
    "required": False,
    "description": "The number of the last event that was seen: what comes is what is behind it.",
    "schema": {"type": "integer", "minimum": 0, "maximum": 2_147_483_647},
}
_RETRY_AFTER: Final = ("Retry-After", "RetryAfter")
_HEADERS_BY_STATUS: Final[dict[int, tuple[str, str]]] = {
    401: ("WWW-Authenticate", "Authenticate"),
    409: _RETRY_AFTER,
    429: _RETRY_AFTER,
    503: _RETRY_AFTER,
}


def document_of(families: Sequence[Routes], base: str = "") -> dict[str, Any]:
    """Return the document of all routes, of an application that is mounted at a path."""
    routes = [route for family in families for route in family.routes]
    writer = _Writer(routes)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(_PARAMETER.sub(r"{\1}", route.path), {})[route.method.lower()] = writer.operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Layover",
            "version": version("layover"),
            "description": _ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": base or "/", "description": "This server."}],
        "tags": [{"name": name, "description": description} for name, description in _tags(families).items()],
        "paths": paths,
        "components": {
            "schemas": writer.schemas.components,
            "responses": dict(sorted(writer.responses.items())),
            "parameters": {"IdempotencyKey": _KEY, "IfMatch": _IF_MATCH, "LastEventId": _LAST_SEEN},
            "headers": _HEADERS,
            "securitySchemes": _SCHEMES,
        },
    }


def _tags(families: Sequence[Routes]) -> dict[str, str]:
    """Return what each family is about; one may be declared in several places."""
    found: dict[str, str] = {}
    for family in families:
        if family.routes:
            found.setdefault(family.family, family.description)
    return found


class _Writer:
    """Writes operations, and keeps what several of them refer to."""

    def __init__(self, routes: Iterable[Route]) -> None:
        types: list[Any] = [ProblemDetails]
        for route in routes:
            types += [one for one in (route.body, *route.answers.values()) if not _is_raw(one)]
        self.schemas = Schemas(types)
        self.responses: dict[str, Any] = {}

    def operation(self, route: Route) -> dict[str, Any]:
        told = _description_of(route)
        written: dict[str, Any] = {
            "operationId": route.name,
            "tags": [route.family],
            "summary": route.summary,
            **({"description": told} if told else {}),
            "parameters": self._parameters(route),
        }
        if route.body is not None:
            written["requestBody"] = self._body(route)
        answers = {str(status): self._answer(route, status, type_) for status, type_ in sorted(route.answers.items())}
        written["responses"] = {**answers, **self._problems(route, answers)}
        written["security"] = _security(route)
        if route.needs:
            written["x-permissions"] = list(route.needs)
        return written

    def _parameters(self, route: Route) -> list[dict[str, Any]]:
        found = [_path_parameter(route.path, match) for match in _PARAMETER.finditer(route.path)]
        found += parameters_of(route.query)
        if route.keyed:
            found.append({"$ref": "#/components/parameters/IdempotencyKey"})
        if route.pinned:
            found.append({"$ref": "#/components/parameters/IfMatch"})
        if route.answer_media == _STREAM:
            found.append({"$ref": "#/components/parameters/LastEventId"})
        return found

    def _body(self, route: Route) -> dict[str, Any]:
        content: dict[str, Any] = {"schema": {} if _is_raw(route.body) else self.schemas.of(route.body)}
        examples = examples_of(route)
        if examples:
            content["examples"] = {name: {"value": value} for name, value in examples.items()}
        return {"required": route.body_required, "content": dict.fromkeys(route.media_types, content)}

    def _answer(self, route: Route, status: int, type_: Any) -> dict[str, Any]:
        headers = {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}}
        if status in (201, 202) or HTTPStatus.ACCEPTED in route.answers:
            headers["Location"] = {"$ref": "#/components/headers/Location"}
        if route.tagged:
            headers["ETag"] = {"$ref": "#/components/headers/ETag"}
        if route.keyed:
            headers["Idempotency-Replayed"] = {"$ref": "#/components/headers/Replayed"}
        answer: dict[str, Any] = {"description": HTTPStatus(status).phrase, "headers": headers}
        if type_ is None and status == HTTPStatus.NO_CONTENT:
            return answer
        media_type = route.answer_media.partition(";")[0]
        schema = {"type": "string"} if _is_raw(type_) else self.schemas.of(type_)
        if media_type == _STREAM:
            schema = {"type": "string", "x-data": schema}
        return {**answer, "content": {media_type: {"schema": schema}}}

    def _problems(self, route: Route, answers: dict[str, Any]) -> dict[str, Any]:
        by_status: dict[int, list[str]] = defaultdict(list)
        for code in route.codes:
            by_status[STATUS[code]].append(code)
        found: dict[str, Any] = {}
        for status, codes in by_status.items():
            name = ".".join(codes)
            self.responses.setdefault(name, _problem(status, codes))
            if str(status) in answers:  # one status, both as an answer and as a problem: two kinds of content
                problem = self.responses[name]["content"]
                answers[str(status)].setdefault("content", {}).update(problem)
            else:
                found[str(status)] = {"$ref": f"#/components/responses/{name}"}
        return found


def _problem(status: int, codes: Sequence[str]) -> dict[str, Any]:
    header = _HEADERS_BY_STATUS.get(status)
    return {
        "description": f"{HTTPStatus(status).phrase}: {', '.join(f'`{code}`' for code in codes)}",
        "headers": {
            "X-Request-Id": {"$ref": "#/components/headers/RequestId"},
            **({header[0]: {"$ref": f"#/components/headers/{header[1]}"}} if header is not None else {}),
        },
        "content": {
            "application/problem+json": {
                "schema": {
                    "allOf": [
                        {"$ref": "#/components/schemas/ProblemDetails"},
                        {"properties": {"code": {"enum": list(codes)}, "status": {"const": status}}},
                    ]
                }
            }
        },
    }


def _path_parameter(path: str, match: re.Match[str]) -> dict[str, Any]:
    name, before = match[1], path[: match.start()].rstrip("/").rpartition("/")[2]
    schema, told, example = _IN_PATHS.get(name) or _IN_PATHS.get(before) or (_ID, "", "")
    written: dict[str, Any] = {"name": name, "in": "path", "required": True}
    if told:
        written |= {"description": told, "example": example}
    return {**written, "schema": schema}


def _security(route: Route) -> list[dict[str, list[str]]]:
    shown: list[dict[str, list[str]]] = [{name: []} for name in _SCHEMES]
    if route.is_open:
        return []
    return [{}, *shown] if route.open == "loopback" else shown


def _description_of(route: Route) -> str:
    """Return all that is to be said of a route beyond one sentence."""
    _, _, rest = (route.handle.__doc__ or "").strip().partition("\n\n")
    parts = [" ".join(part.split()) for part in rest.split("\n\n") if part.strip()]
    if route.needs:
        parts.append(f"Needs the permission {' or '.join(f'`{name}`' for name in route.needs)}.")
    elif route.open == "loopback":
        parts.append("From another machine it needs credentials.")
    return "\n\n".join(parts)


def _is_raw(type_: Any) -> bool:
    """Return whether an answer is something other than JSON with a schema: bytes, text, or nothing."""
    return type_ is None or type_ in (bytes, str)
