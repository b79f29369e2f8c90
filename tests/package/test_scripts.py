"""Every script of bench/ and tools/ runs to its end: here in a small size, with figures that nobody reads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_SMALL = ["--small"]
_MEASURES_OF_POSTGRES = ["chain1", "leg1", "pauses_and_calls", "timers", "restart", "long", "bytes", "idle"]

# The arguments that make a script small. A script that is not here fails the first test: give it a small size.
_ARGUMENTS: dict[str, list[list[str]]] = {
    "bench/audit.py": [_SMALL],
    "bench/batches.py": [_SMALL, ["--postgres", *_SMALL]],
    "bench/console.py": [_SMALL],
    "bench/console_hour.py": [_SMALL],
    "bench/core.py": [_SMALL],
    "bench/definitions.py": [_SMALL],
    "bench/deliveries.py": [_SMALL, ["--postgres", *_SMALL]],
    "bench/expressions.py": [_SMALL],
    "bench/failures.py": [_SMALL, ["--calls", *_SMALL]],
    "bench/http_surface.py": [_SMALL],
    "bench/paired.py": [[str(_ROOT / "src"), *_SMALL]],
    "bench/paired_http.py": [[str(_ROOT / "src"), *_SMALL]],
    "bench/instructions.py": [[str(_ROOT / "src"), "--calls", *_SMALL, "start", "resume"]],
    "bench/kit.py": [_SMALL],
    "bench/logs.py": [_SMALL],
    "bench/schedules.py": [_SMALL],
    "bench/observed.py": [_SMALL],
    "bench/metrics.py": [_SMALL, ["--postgres", *_SMALL]],
    "bench/resumes.py": [_SMALL, ["--postgres", *_SMALL]],
    "bench/runtime.py": [_SMALL, ["--postgres", *_SMALL, *_MEASURES_OF_POSTGRES]],
    "bench/queries.py": [_SMALL, ["--postgres", *_SMALL]],
    "bench/scale.py": [_SMALL, ["--postgres", *_SMALL]],
    "bench/seams.py": [_SMALL],
    "bench/tracing.py": [_SMALL],
    "bench/triggers.py": [_SMALL, ["--postgres", *_SMALL]],
    "bench/start_up.py": [_SMALL],
    "bench/webhooks.py": [_SMALL, ["--postgres", *_SMALL]],
    "tools/batch_kills.py": [
        ["--executions", "60", "--kills", "1"],
        ["--postgres", "--executions", "60", "--kills", "1"],
    ],
    "tools/break_engine.py": [_SMALL],
    "tools/break_runtime.py": [_SMALL],
    "tools/chaos.py": [["--minutes", "0.01", "--processes", "1", "--people", "1"]],
    "tools/check_order.py": [[]],
    "tools/cli_reference.py": [["--check"]],
    "tools/console_screenshots.py": [["--check"]],
    "tools/errors_reference.py": [["--check"]],
    "tools/delivery_chaos.py": [["--seconds", "0", "--servers", "1"]],
    "tools/dashboard.py": [["--check"]],
    "tools/http_reference.py": [["--check"]],
    "tools/log_reference.py": [["--check"]],
    "tools/load.py": [["--clients", "10", "--seconds", "0.5"]],
    "tools/metrics_reference.py": [["--check"]],
    "tools/node_types_reference.py": [["--check"]],
    "tools/openapi_file.py": [["/dev/null"]],
    "tools/page_screenshots.py": [_SMALL],
    "tools/quorum_races.py": [["--rounds", "2"], ["--postgres", "--rounds", "2"]],
    "tools/settings_reference.py": [["--check"]],
    "tools/simulate.py": [["--seeds", "2"]],
    "tools/streams.py": [["--clients", "4", "--stalled", "0", "--executions", "2", "--rounds", "2"]],
    "tools/sync_stub.py": [["--check"]],
    "tools/torture.py": [["--minutes", "0.01", "--processes", "1"]],
    "tools/trigger_races.py": [["--schedules", "2", "--seconds", "1", "--processes", "1"]],
}
_RUN_BY_OTHERS = {"bench/http_hello.py", "bench/runtime_children.py"}
_LONGEST = 300


def test_every_script_has_a_small_size() -> None:
    scripts = {
        str(path.relative_to(_ROOT))
        for folder in ("bench", "tools")
        for path in (_ROOT / folder).glob("*.py")
        if 'if __name__ == "__main__":' in path.read_text()
    }
    assert scripts == {*_ARGUMENTS, *_RUN_BY_OTHERS}


@pytest.mark.parametrize(
    ("script", "arguments"),
    [pytest.param(name, one, id=f"{name} {' '.join(one[:1])}") for name, small in _ARGUMENTS.items() for one in small],
)
def test_the_script_ends_without_an_error(script: str, arguments: list[str]) -> None:
    words = [sys.executable, str(_ROOT / script), *arguments]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=_LONGEST)  # noqa: S603 - ours
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
