"""Whatever a client sends that knows the document: schemathesis against a server of our own.

`python -m tests.api.fuzz --examples 50 --seed 1` prints what it finds; each finding is something that a route does and
the document does not say, or a fault of ours. The same seed asks the same.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from layover.api.openapi_examples import DEFINITION
from layover.api.settings import ApiSettings
from tests.api.harness import ADMIN_KEY, Api, served

# Not asked for: that every body which fits its schema is accepted. Schemas do not know which workflows there are.
_NOT_CHECKED = "positive_data_acceptance"
_EXECUTION = "0195f2a6-7c00-7000-8000-5d1e0f3a9b42"  # as the document has it for an example
_SETTINGS = ApiSettings(rate_limit=None, longest_wait=1.0, body_limit=200_000)
_LONGEST = 3_600  # seconds


class Finding(NamedTuple):
    """Something that is not as the document says."""

    operation: str
    title: str
    told: str

    def __str__(self) -> str:
        return f"{self.operation}: {self.title}\n    {self.told}"


class Fuzzed(NamedTuple):
    """What came of it."""

    findings: list[Finding]
    output: str
    code: int


async def fuzzed(folder: Path, *, examples: int, seed: int, phases: str, only: str = "") -> Fuzzed:
    """Serve a database with something in it, and ask everything of it that the document allows, and more."""
    async with served(folder, settings=_SETTINGS) as api:
        await _furnish(api, folder)
        report = folder / "report.ndjson"
        command = [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{api.url}/openapi.json"),
            *("--url", api.url),
            *("--header", f"Authorization: Bearer {ADMIN_KEY}"),
            *("--seed", str(seed)),
            *("--max-examples", str(examples)),
            *("--phases", phases),
            *("--exclude-checks", _NOT_CHECKED),
            *("--exclude-path-regex", "/stream$"),  # it has no end
            *("--generation-database", "none"),
            *("--request-timeout", "30"),
            "--continue-on-failure",
            "--no-color",
            *("--report", "ndjson", "--report-ndjson-path", str(report)),
            *(("--include-path-regex", only) if only else ()),
        ]
        process = await asyncio.create_subprocess_exec(
            *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, cwd=folder
        )
        async with asyncio.timeout(_LONGEST):
            output, _ = await process.communicate()
        await _still_answers(api)
    found = findings_of(report.read_text(encoding="utf-8")) if report.exists() else []
    return Fuzzed(found, output.decode(errors="replace"), process.returncode or 0)


async def _furnish(api: Api, folder: Path) -> None:
    """Have something there that can be found, and say to the program what it is called."""
    instead = {
        "pay": {"id": "pay", "type": "set", "values": {"paid": True}},  # nobody is called
        "review": {"id": "review", "type": "approval", "title": "May we?"},  # anybody may say so
    }
    definition = {**DEFINITION, "nodes": [instead.get(node["id"], node) for node in DEFINITION["nodes"]]}
    saved = await api.post("/workflows", definition)
    start = {"workflow": "order", "id": _EXECUTION, "input": {"amount": 250}, "wait": "1s"}
    started = await api.post("/executions", start)
    made = await api.post("/keys", {"name": "fuzz", "user": "fuzz", "roles": ["viewer"]})
    if (saved.status, started.status, made.status) != (201, 202, 201):
        raise RuntimeError(f"There is nothing to ask for: {saved} {started} {made}")
    point = started.json["pause_points"][0]["id"]
    known = {"pause-points": {"id": point}, "approvals": {"id": point}, "keys": {"id": made.json["id"]}}
    known["resume"] = {"workflow": "order", "execution": _EXECUTION, "context": "review"}
    lines = [
        f'[[operations]]\ninclude-path-regex = "/{word}/"\n'
        f"parameters = {{ {', '.join(f'{name} = {value!r}' for name, value in values.items())} }}\n"
        for word, values in known.items()
    ]
    (folder / "schemathesis.toml").write_text("\n".join(lines), encoding="utf-8")


async def _still_answers(api: Api) -> None:
    answered = await api.get("/healthz")
    if answered.status != 200:
        raise RuntimeError(f"It does not live any more: {answered}")


def findings_of(report: str) -> list[Finding]:
    """Return what failed, each kind of failure of an operation once."""
    found: dict[tuple[str, str], Finding] = {}
    for line in report.splitlines():
        for operation, failure in _failures(msgspec.json.decode(line), ""):
            title = str(failure.get("title") or failure.get("name") or failure.get("type") or "?")
            told = " ".join(str(failure.get("message") or "").split())
            found.setdefault((operation, title), Finding(operation, title, told[:600]))
    return list(found.values())


def _failures(value: Any, operation: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the failures within a part of the report, with the operation that they are of."""
    if isinstance(value, list):
        return [one for part in value for one in _failures(part, operation)]
    if not isinstance(value, dict):
        return []
    named = value.get("label") or value.get("operation") or operation
    operation = named if isinstance(named, str) else operation
    here = value.get("failure")
    own = [(operation, here)] if isinstance(here, dict) else []
    return own + [one for name, part in value.items() if name != "failure" for one in _failures(part, operation)]


async def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--phases", default="examples,coverage,fuzzing,stateful")
    parser.add_argument("--only", default="", help="paths that match a regular expression")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        done = await fuzzed(
            Path(folder), examples=given.examples, seed=given.seed, phases=given.phases, only=given.only
        )
    if given.verbose or (done.code and not done.findings):
        print(done.output)  # noqa: T201 - a program that tells
    for finding in done.findings:
        print(finding)  # noqa: T201 - as above
    print(f"{len(done.findings)} findings, exit code {done.code}")  # noqa: T201 - as above
    return 1 if done.findings or done.code else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(_main()))
