"""Write docs/reference/cli.md from the commands themselves: python tools/cli_reference.py [--check]."""

from __future__ import annotations

from pathlib import Path

from layover.cli.main import app, tell_more

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "cli.md"

HEADING = """# The command line

<!-- Written by tools/cli_reference.py; change the commands instead. -->

Commands that look (`ls`, `show`, `history`, `why`, `inbox`, `top`, `doctor`, `verify`) only read. Commands that act
write down what is asked and end: a running instance applies it at its next step, and they say so if there is none.
What operators do (`pause`, `resume`, `cancel`, `retry`, `rewind`) waits up to ten seconds for that, and shows the state
after it. Only `run`, `worker` and `serve` drive executions.

With `--url` and a key they ask a server in place of a database, and print the same:
[how to](../how-to/use-it-over-http.md).

| exit code | meaning |
| --- | --- |
| 0 | done |
| 1 | failed |
| 2 | bad input: an argument, a file, data, or a database or server that cannot be used |
| 3 | unknown id |
| 4 | wrong state |
| 10 | resting: paused or waiting |

An execution may be named by the first characters of its id, six or more, if no other id begins like that. `--json`
prints the resource for machines, as it is over HTTP. What a flag does not say comes from the environment (`LAYOVER_DB`,
`LAYOVER_URL`, `LAYOVER_KEY` …) or from `layover.toml`: [settings](settings.md). `LAYOVER_DEBUG=1` shows where an error
comes from.

"""


def page() -> str:
    """Return the page as it should be."""
    names = [name for name in app if not name.startswith("-")]
    for name in names:
        tell_more(name)
    _, _, commands = app.generate_docs(heading_level=1, usage_name="layover").partition("## layover ")
    listed = "\n".join(f"- [`layover {name}`](#layover-{name})" for name in names)
    return f"{HEADING}{listed}\n\n## layover {commands.rstrip()}\n"


if __name__ == "__main__":
    from written import write  # beside this file, which is only on the path of a script

    write({PAGE: page()})
