"""Write docs/reference/settings.md from the table of settings: python tools/settings_reference.py [--check]."""

from __future__ import annotations

from pathlib import Path

from layover.config.table import GROUPS, Row, table

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "settings.md"
HEADING = """# Settings

<!-- Written by tools/settings_reference.py; change the settings instead. -->

The commands take every setting from four places. A later one wins:

1. the default;
2. a file, `layover.toml` in the working folder, or the one that `--config FILE` or `LAYOVER_CONFIG` names;
3. the environment, where an empty variable sets nothing;
4. flags.

A setting has one name: `lease_ttl` in the file is `LAYOVER_LEASE_TTL` in the environment and `--lease-ttl` as a flag.
`layover settings` prints every setting, its value, and where that came from; with `--json`, for machines. Secrets and
the passwords in addresses are not shown. A name that does not exist is refused with the nearest one that does, a value
with what is allowed.

```toml
# layover.toml
db = "postgresql://layover@db.internal/layover"
lease_ttl = "20s"
calls = 400
calls_by_type = {http = 20, render = 4}
retention = "90d"
trusted_proxies = ["10.0.0.7"]
log_format = "json"
```

- A length of time is written like `500ms`, `30s`, `1h30m` or `7d`, a number of bytes like `2000000`, `500kB` or
  `2MiB`, a rate like `100/m` or `20/10s`.
- Secrets (`admin_key`, `jwt_secret`, `link_key`) have no flag, since other users of a machine see the command lines of
  its processes. A file that holds one should be readable by its owner only: `layover doctor` looks.
- `url`, `key`, `redact`, `allow_secrets`, `secrets_file` and `secrets_dir` are not taken from the file: a file in a
  folder decides neither to which server a key is sent, nor which code runs, nor who gets secrets.
- `LAYOVER_SECRET_<NAME>` is a [secret](../how-to/use-secrets.md), and no setting.
- Variables that Docker and Kubernetes set for a service named `layover` (`LAYOVER_SERVICE_HOST`,
  `LAYOVER_PORT=tcp://…`) are left alone.
- `LAYOVER_DEBUG=1` shows where an error of a command comes from. It is no setting.

A program gives `layover.Settings` (the engine's) to `Engine`, and `layover.asgi.ApiSettings` (the limits of the API,
times in seconds) to `layover.asgi.application`. Neither reads a file or the environment.

"""


def page() -> str:
    """Return the page as it should be."""
    parts = [HEADING]
    for group, title in GROUPS.items():
        parts += [f"## {title}\n\n", "| setting | default | takes | meaning |\n| --- | --- | --- | --- |\n"]
        parts += [_line(row) for row in table().values() if row.group == group]
        parts.append("\n")
    return "".join(parts).rstrip() + "\n"


def _line(row: Row) -> str:
    default = row.show(row.default)
    takes = f"{row.kind.what}{row.kind.alternative}"
    return f"| `{row.name}` | {f'`{default}`' if default else ''} | {takes} | {row.about} |\n"


if __name__ == "__main__":
    from written import write  # beside this file, which is only on the path of a script

    write({PAGE: page()})
