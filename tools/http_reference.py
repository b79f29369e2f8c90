"""Write docs/reference/http.md from the routes themselves: python tools/http_reference.py [--check]."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from layover.api.problems import STATUS
from layover.api.routes import FAMILIES, ROUTES
from layover.service.permissions import ROLES, Permission

if TYPE_CHECKING:
    from layover.api.routing import Route

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "http.md"

_OPEN = {
    "anybody": "anybody",
    "loopback": "the machine itself, or any caller",
    "token": "the holder of the token",
    "sender": "a sender that proves who it is",
    "known": "any caller",
}

HEADING = """# The HTTP interface

<!-- Written by tools/http_reference.py; change the routes instead. -->

A server shows the same as an OpenAPI 3.1 document at `/openapi.json`, with every field, and as a page to read and try
out at `/docs`. Both come from the declarations that the server itself runs on.

**Credentials.** `Authorization: Bearer` with a key or a JWT, or `X-API-Key` with a key. A key is shown once, when it
is made. `/healthz` and `/readyz` are open; `/openapi.json` and `/metrics` are open on the machine itself. A callback
has no other credentials than the token in its path.

**Bodies** are JSON; a definition may be YAML (`application/yaml`). Unknown fields are refused. Times are
ISO-8601, UTC, with milliseconds; lengths of time are texts such as `1h30m`.

**Lists** are `{items, next}`: `next` goes back in as `cursor`, and is null at the end. `limit` is 50 unless given, and
never more than 100.

**Twice.** A POST with an `Idempotency-Key` is done once. The same request again gets the same answer, with
`Idempotency-Replayed: true`; another request with the same key is `idempotency_mismatch`; while the first is still
being worked at, it is `in_progress`. Answers are kept for a day. A key belongs to the caller and the path; only the
keys of starts belong to the workflow, so that two callers who start it for the same order start it once. An answer is
still only for the caller who caused it: another one with the same key and input gets the execution's id and status.

**What was seen.** The `ETag` of a pause point is its `view`: the SHA-256 of what a person is shown there (the title,
the shown values, the form, what each answer leads to, the deadline and its outcome). An answer with `If-Match` counts
only if the point still shows that; otherwise it is 412 `point_changed`, with both hashes and what is shown now in
`difference`. A decision holds what was `seen`; null if the request did not say.

**Waiting.** What is asked of an execution is durable before it is answered. A start waits only if it says so (`wait`,
at most `1m`); what operators do waits until the execution has taken it, at most ten seconds. A caller that has
waited for so long, or is waiting when the server stops, gets the execution as it is.

**Rate.** A caller has 100 requests a minute, whichever keys they use; a callback has as many for each token. Who is not
known is counted by their address. `rate_limited` says after how many seconds to try again.

**Problems** are `application/problem+json`: `{type, title, status, detail, code, request_id}`. `code` is stable,
`detail` is for people, and `request_id` (also in the header `X-Request-Id`, which a client may send) finds a request
that failed or was refused in the log of the server. `errors` has the places of what is wrong with a body, an input or a
definition; `current_status` is there with `wrong_state`, and `winner` with `already_answered`. What is wrong is looked
for in this order: credentials, rate, permission, parameters, body, and then what is asked for.

```console
$ curl -H "Authorization: Bearer $LAYOVER_KEY" -H "Content-Type: application/json" \\
    -d '{"workflow": "order", "input": {"amount": 250}, "wait": "10s"}' http://127.0.0.1:8080/api/v1/executions
```

"""


def page() -> str:
    """Return the page as it should be."""
    parts = [HEADING, _permissions()]
    for name, (description, routes) in _families().items():
        parts.append(f"## {name}\n\n{description}\n\n{_table(routes)}\n")
    parts.append(_codes())
    return "".join(parts).rstrip("\n") + "\n"


def _families() -> dict[str, tuple[str, list[Route]]]:
    """Return the routes of each family, also of one that is declared in several places."""
    found: dict[str, tuple[str, list[Route]]] = {}
    for family in FAMILIES:
        if family.routes:
            found.setdefault(family.family, (family.description, []))[1].extend(family.routes)
    return found


def _permissions() -> str:
    names = [str(name) for name in Permission.__args__]  # type: ignore[attr-defined]  # a literal has them
    rows = [
        f"| `{role}` | {', '.join(f'`{name}`' for name in names if name in granted)} |\n"
        for role, granted in ROLES.items()
    ]
    return (
        "## Permissions\n\nA caller has a user name and roles. These roles permit something; any other only counts "
        "where a workflow names it among those who are asked.\n\n| role | permits |\n| --- | --- |\n"
        + "".join(rows)
        + "\n"
    )


def _table(routes: list[Route]) -> str:
    rows = [f"| `{one.method} {_address(one)}` | {one.summary} | {_who(one)} | {_answers(one)} |\n" for one in routes]
    return "| call | | who | answers |\n| --- | --- | --- | --- |\n" + "".join(rows)


def _address(route: Route) -> str:
    names = [f"{field.encode_name}=" for field in msgspec.structs.fields(route.query)]
    return re.sub(r":\w+}", "}", route.path) + (f"?{'&'.join(names)}" if names else "")


def _who(route: Route) -> str:
    if route.needs:
        return " or ".join(f"`{name}`" for name in route.needs)
    return _OPEN[route.open or "anybody"]


def _answers(route: Route) -> str:
    own = sorted(route.problems, key=lambda code: (STATUS[code], code))
    return ", ".join([*map(str, sorted(route.answers)), *(f"{STATUS[code]} `{code}`" for code in own)])


def _codes() -> str:
    families: dict[str, dict[str, None]] = defaultdict(dict)
    for route in ROUTES:
        for code in route.codes:
            families[code][route.family] = None
    everywhere = {"not_found", "method_not_allowed"}  # of what is no route, too
    everywhere |= set(ROUTES[0].codes).intersection(*(route.codes for route in ROUTES))
    widespread = {code: "most families" for code, found in families.items() if len(found) > len(_families()) // 2}
    where = {**{code: ", ".join(found) for code, found in families.items()}, **widespread}
    where.update(dict.fromkeys(everywhere, "everywhere"))
    rows = [
        f"| {status} | `{code}` | {where[code]} |\n"
        for code, status in sorted(STATUS.items(), key=lambda item: (item[1], item[0]))
        if code in where
    ]
    return "## Codes\n\n| status | code | where |\n| --- | --- | --- |\n" + "".join(rows)


if __name__ == "__main__":
    from written import write  # beside this file, which is only on the path of a script

    write({PAGE: page()})
