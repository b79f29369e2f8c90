"""Whatever a client sends that knows the document: schemathesis against a server of our own.

`python -m tests.api.fuzz --examples 50 --seed 1` prints what it finds; each finding is something that a route does and
the document does not say, or a fault of ours. The same seed asks the same.

It is run twice: once with the names of what is there, so that what routes do with it is seen; and once with whatever
the document allows in a path, and what it does not.

All checks of the program are made, but for these:
- `positive_data_acceptance`: not everything that fits its schema can be accepted. A schema does not know which
  workflows there are, what is written in a definition, or whether a point is still open.
- `negative_data_rejection` does not know 413: what does not fit may be refused for its size alone.
- `allow_header_conformance`, for `/workflows/check`, `dry-run`, `export`, `import` and `plan` only: a workflow may have
  one of these names, so the other methods of `/workflows/{name}` are allowed there as well.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from layover.api.settings import ApiSettings
from tests.api.harness import ADMIN_KEY, Api, served
from tests.api.populated_server import populate
from tests.runtime.harness import Held

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SETTINGS = ApiSettings(rate_limit=None, guess_limit=None, longest_wait=1.0, body_limit=200_000)
_PHASES = "examples,coverage,fuzzing"
_NOT_CHECKED = "positive_data_acceptance"
_HOOKS = Path(__file__).with_name("fuzz_hooks.py")
_TOO_LARGE_TOO = """\
[checks]
negative_data_rejection.expected-statuses = [
    "400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "428", "429", "5xx",
]
"""
_NAMES_OF_WORKFLOWS_TOO = """\
[[operations]]
include-path-regex = "/workflows/(check|dry-run|export|import|plan)$"
checks.allow_header_conformance.enabled = false
"""


class Finding(NamedTuple):
    """Something that is not as the document says."""

    operation: str
    title: str
    told: str

    def __str__(self) -> str:
        return f"{self.operation}: {self.title}\n    {self.told}"


class Fuzzed(NamedTuple):
    """What came of it: what was found, and how often each operation was answered with which status."""

    findings: list[Finding]
    answers: dict[str, Counter[int]]
    output: str
    codes: tuple[int, ...]


async def fuzzed(folder: Path, *, examples: int, seed: int, only: str = "") -> Fuzzed:
    """Serve a database with something in it, and ask everything of it that the document allows, and more."""
    work = Held()
    async with served(folder, work, settings=_SETTINGS) as api:
        known = await populate(api, work)
        options = ["--max-examples", str(examples), "--seed", str(seed)]
        options += ["--include-path-regex", only] if only else []
        runs = [
            await _run(api, folder / "known", _config(known), [*options, "--phases", _PHASES]),
            await _run(api, folder / "any", _config({}), [*options, "--phases", "fuzzing,stateful"]),
        ]
        answered = await api.get("/healthz")
    if answered.status != 200:
        raise RuntimeError(f"It does not live any more: {answered}")
    reports = [report for report, _, _ in runs]
    return Fuzzed(
        list(dict.fromkeys(finding for report in reports for finding in findings_of(report))),
        answers_of(reports),
        "\n".join(output for _, output, _ in runs),
        tuple(code for _, _, code in runs),
    )


async def _run(api: Api, folder: Path, config: str, options: list[str]) -> tuple[str, str, int]:
    """Run the program once, and return its report, what it printed, and its exit code."""
    report = _folder(folder, config) / "report.ndjson"
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "run", f"{api.url}/openapi.json"),
        *("--url", api.url),
        *("--header", f"Authorization: Bearer {ADMIN_KEY}"),
        *("--exclude-checks", _NOT_CHECKED),
        *("--exclude-path-regex", "(/stream|/changes)$"),  # it has no end
        *("--generation-database", "none"),
        *("--request-timeout", "30"),
        "--continue-on-failure",
        "--no-color",
        *("--report", "ndjson", "--report-ndjson-path", str(report)),
        *options,
    ]
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, cwd=folder
    )
    try:
        output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    told = report.read_text(encoding="utf-8") if report.exists() else ""
    return told, output.decode(errors="replace"), process.returncode or 0


def _folder(folder: Path, config: str) -> Path:
    """Return a folder to run in, with the settings of the program."""
    folder.mkdir()
    (folder / "schemathesis.toml").write_text(config, encoding="utf-8")
    return folder


def _config(known: Mapping[str, Mapping[str, str]]) -> str:
    """Return the settings of the program: what paths are filled in with."""
    parts = [
        f'[[operations]]\ninclude-operation-id = "{name}"\n'
        f"parameters = {{ {', '.join(f'{parameter} = {value!r}' for parameter, value in values.items())} }}\n"
        for name, values in known.items()
    ]
    return "\n".join([f"hooks = {str(_HOOKS)!r}\n", _TOO_LARGE_TOO, _NAMES_OF_WORKFLOWS_TOO, *parts])


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


def answers_of(reports: list[str]) -> dict[str, Counter[int]]:
    """Return how often each operation was answered with which status, by its method and its path."""
    found: dict[str, Counter[int]] = {}
    for case, answer in _answered(reports):
        found.setdefault(f"{case['method']} {case['path']}", Counter())[answer["status_code"]] += 1
    return found


def _answered(reports: list[str]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for report in reports:
        for line in report.splitlines():
            recorder = msgspec.json.decode(line).get("ScenarioFinished", {}).get("recorder", {})
            for name, one in recorder.get("interactions", {}).items():
                if one.get("response"):
                    yield recorder["cases"][name]["value"], one["response"]


async def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="paths that match a regular expression")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        done = await fuzzed(Path(folder), examples=given.examples, seed=given.seed, only=given.only)
    if given.verbose or (any(done.codes) and not done.findings):
        print(done.output)  # noqa: T201 - a program that tells
    for operation, answers in sorted(done.answers.items()):
        print(f"{operation}: {', '.join(f'{count} x {status}' for status, count in sorted(answers.items()))}")  # noqa: T201 - as above
    for finding in done.findings:
        print(finding)  # noqa: T201 - as above
    print(f"{len(done.findings)} findings, exit codes {done.codes}")  # noqa: T201 - as above
    return 1 if done.findings or any(done.codes) else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(_main()))
