"""Settings come from defaults, a file, the environment and flags; a later one wins, and what is wrong is named."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
import pytest

from layover import Settings
from layover.api.access.config import AccessSettings, InvalidSetting, JwtSettings, OidcSettings
from layover.api.settings import ApiSettings
from layover.config.command_settings import CommandSettings
from layover.config.configuration import Configuration, configure
from layover.config.table import STRUCTS, table
from layover.settings import runtime_settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SECRET = "Zk8vQ2mT7xR4nB9cW1pL6dF3hJ5sY0aG"  # noqa: S105 - of no server
ADMIN_KEY = "an-admin-key-for-tests-only"
# Of every setting, a value as text that is not its default.
OTHER = {
    "db": "other.db",
    "url": "http://127.0.0.1:9",
    "key": "lay_other",
    "host": "0.0.0.0",  # noqa: S104 - nothing listens there
    "worker": "off",
    "health": "[::1]:9090",
    "admin_key": ADMIN_KEY,
    "jwt_secret": SECRET,
    "jwt_jwks_url": "https://id.example.org/keys",
    "jwt_issuer": "https://id.example.org",
    "jwt_audience": "layover",
    "oidc_issuer": "https://id.example.org",
    "oidc_client_id": "layover",
    "oidc_client_secret": SECRET,
    "oidc_roles_claim": "groups",
    "oidc_role_map": '{"staff": ["viewer"]}',
    "oidc_user_claim": "email",
    "oidc_scopes": "openid groups",
    "link_key": SECRET,
    "link_identity": "link",
    "log": "debug",
    "log_format": "json",
    "calls_by_type": "http=5, send=2",
    "jitter": "no",
    "http_private": "yes",
    "public_url": "https://layover.example.org",
    "rate_limit": "20/10s",
    "session_limit": "1200/m",
    "webhook_limit": "2000/m",
    "guess_limit": "off",
    "trusted_proxies": "10.0.0.7, 192.168.0.0/24",
    "hosts": "api.example.org, *.example.net",
    "redact": "app.privacy:mask",
    "node_logs": "yes",
    "search_index": "no",
    "allow_secrets": '{"billing-*": ["STRIPE_KEY", "MAIL_*"]}',
    "notify": '[{"on": ["execution.failed"], "via": "ops-chat"}]',
    "destinations": '{"ops-chat": {"kind": "chat", "address": {"secret": "OPS_CHAT"}, "rate": "1/s"}}',
}


def other(name: str) -> str:
    """Return a value of a setting as text: a length of time, or a number, unless it is special."""
    row = table()[name]
    return OTHER.get(name) or ("77s" if "length of time" in row.kind.allowed else "7")


def beside(name: str) -> dict[str, str]:
    """Return the variables that have to stand beside a setting which says nothing alone."""
    if name in ("jwt_issuer", "jwt_audience"):
        return {"LAYOVER_JWT_SECRET": SECRET}
    needed = ("oidc_issuer", "oidc_client_id", "oidc_role_map") if name.startswith("oidc_") else ()
    return {table()[one].variable: other(one) for one in needed if one != name}


def settings(
    environment: Mapping[str, str] | None = None, folder: Path | None = None, **flags: str | None
) -> Configuration:
    return configure(flags, environment=environment or {}, folder=folder)


def by_flag(name: str, text: str) -> Configuration:
    return configure({name: text}, environment={})


def fault(environment: Mapping[str, str] | None = None, folder: Path | None = None, **flags: str | None) -> str:
    with pytest.raises(InvalidSetting) as raised:
        settings(environment, folder, **flags)
    return raised.value.message


def taken_or_refused(environment: Mapping[str, str] | None = None, folder: Path | None = None) -> Configuration | str:
    """Return the settings, or all that is said of why there are none."""
    try:
        return settings(environment, folder)
    except InvalidSetting as error:
        return f"{error.message}{error.errors}"


def values(configuration: Configuration) -> dict[str, object]:
    structs = (configuration.command, configuration.engine, configuration.api)
    return {name: value for one in structs for name, value in msgspec.structs.asdict(one).items()}


def test_without_anything_all_is_as_programs_have_it(tmp_path: Path) -> None:
    found = settings(folder=tmp_path)
    assert (found.command, found.engine, found.api) == (CommandSettings(), Settings(), ApiSettings())
    assert found.access == AccessSettings()
    assert {one.origin for one in found.describe()} == {"default"}
    assert found.file is None


def test_every_field_of_every_struct_is_a_setting_that_is_described() -> None:
    fields = {field for struct in STRUCTS for field in struct.__struct_fields__}
    assert fields == set(table())
    assert [row.name for row in table().values() if not row.about or row.about.endswith(".")] == []


@pytest.mark.parametrize("name", [name for name in table() if name not in ("jwt_issuer", "jwt_audience")])
def test_every_setting_comes_from_the_environment_and_as_a_flag(name: str) -> None:
    row, text, rest = table()[name], other(name), beside(name)
    by_variable = settings({**rest, row.variable: text})
    flagged = configure({name: text}, environment=rest)

    assert values(by_variable)[name] == values(flagged)[name] != row.default
    assert (by_variable.origin(name), by_variable.label(name)) == ("environment", row.variable)
    assert (flagged.origin(name), flagged.label(name)) == ("flag", row.flag)


@pytest.mark.parametrize("name", [row.name for row in table().values() if row.is_in_file and row.group != "access"])
def test_every_setting_comes_from_the_file(tmp_path: Path, name: str) -> None:
    (tmp_path / "layover.toml").write_text(f'{name} = "{other(name)}"\n')
    found = settings(folder=tmp_path)

    assert values(found)[name] == values(by_flag(name, other(name)))[name]
    assert (found.origin(name), found.label(name)) == ("file", f"layover.toml: {name}")


@pytest.mark.parametrize("name", [name for name in table() if name.startswith("oidc_") and name != "oidc_issuer"])
def test_a_setting_of_a_provider_that_is_not_named_is_refused(name: str) -> None:
    message = fault({table()[name].variable: other(name)})
    assert message.startswith(table()[name].variable)
    assert "`oidc_issuer`, the address of the provider" in message


def test_a_file_has_numbers_lists_and_tables(tmp_path: Path) -> None:
    (tmp_path / "layover.toml").write_text(
        'calls = 7\njitter = false\ntrusted_proxies = ["10.0.0.7"]\nmax_iterations = "unlimited"\n'
        'retention = "30d"\nbody_limit = 500_000\ncalls_by_type = {http = 5}\n'
    )
    found = settings(folder=tmp_path)
    assert (found.engine.calls, found.engine.jitter, found.engine.max_iterations) == (7, False, None)
    assert (found.engine.retention, found.engine.calls_by_type) == ("30d", {"http": 5})
    assert (found.api.trusted_proxies, found.api.body_limit) == (("10.0.0.7",), 500_000)


def test_a_later_source_wins(tmp_path: Path) -> None:
    (tmp_path / "layover.toml").write_text('poll = "2s"\ngrace = "2s"\ndrain = "2s"\n')
    found = settings({"LAYOVER_POLL": "3s", "LAYOVER_GRACE": "3s"}, tmp_path, poll="4s")

    assert (found.engine.poll, found.engine.grace, found.engine.drain) == ("4s", "3s", "2s")
    assert [found.origin(name) for name in ("poll", "grace", "drain", "calls")] == [
        *("flag", "environment", "file", "default")
    ]


# Of every setting, a second value, so that three sources can disagree; a third is made of the first.
ANOTHER = {
    "db": "another.db",
    "url": "http://127.0.0.1:10",
    "key": "lay_another",
    "host": "::1",
    "worker": "true",
    "health": "9191",
    "log": "error",
    "log_format": "text",
    "calls_by_type": "http=6",
    "jitter": "true",
    "http_private": "no",
    "public_url": "https://another.example.org",
    "rate_limit": "30/10s",
    "session_limit": "1300/m",
    "webhook_limit": "3000/m",
    "guess_limit": "30/10s",
    "trusted_proxies": "10.0.0.8",
    "hosts": "another.example.org",
    "redact": "app.privacy:hide",
    "admin_key": "another-admin-key-for-tests",
    "jwt_secret": "aG0yS5jH3fD6lP1wC9bN4rX7tM2qV8kZ",
    "jwt_jwks_url": "https://another.example.org/keys",
    "jwt_issuer": "https://another.example.org",
    "jwt_audience": "another",
    "oidc_issuer": "https://another.example.org",
    "oidc_client_id": "another",
    "oidc_client_secret": "another",
    "oidc_roles_claim": "another",
    "oidc_role_map": '{"another": ["viewer"]}',
    "oidc_user_claim": "another",
    "oidc_scopes": "openid another",
    "link_key": "aG0yS5jH3fD6lP1wC9bN4rX7tM2qV8kZ,Zk8vQ2mT7xR4nB9cW1pL6dF3hJ5sY0aG",
    "link_identity": "link+login",
    "node_logs": "false",
    "search_index": "true",
    "allow_secrets": '{"refund": ["ANOTHER"]}',
    "notify": '[{"on": "pause.opened", "to": "people", "via": "mail"}]',
    "destinations": '{"erp": {"kind": "webhook", "address": "https://erp.example/hook"}}',
}


def of(configuration: Configuration, name: str) -> object:
    struct = configuration.engine if Settings in table()[name].structs else None
    return getattr(struct, name) if struct is not None else values(configuration)[name]


def another(name: str) -> str:
    return ANOTHER.get(name) or ("78s" if "length of time" in table()[name].kind.allowed else "8")


@pytest.mark.parametrize("name", list(table()))
def test_of_every_setting_the_flag_wins_over_the_environment_and_that_over_the_file(tmp_path: Path, name: str) -> None:
    row, low, high = table()[name], other(name), another(name)
    rest = beside(name)
    if row.is_in_file:
        (tmp_path / "layover.toml").write_text(f"{name} = '{low}'\n")
    alone = settings(rest, tmp_path)
    by_variable = settings({**rest, row.variable: high}, tmp_path)
    by_all = configure({name: low}, environment={**rest, row.variable: high}, folder=tmp_path)

    assert alone.origin(name) == ("file" if row.is_in_file else "default")
    assert (by_variable.origin(name), by_all.origin(name)) == ("environment", "flag")
    assert row.kind.read(high) != row.kind.read(low)
    assert of(by_variable, name) == row.kind.read(high)
    assert of(by_all, name) == row.kind.read(low)
    assert of(alone, name) == (row.kind.read(low) if row.is_in_file else row.default)


@pytest.mark.parametrize(
    "hostile",
    [
        "[]",
        "{}",
        "[[1]]",
        "{a = {b = 1}}",
        "nan",
        "-inf",
        "-1",
        "1e400",
        "999999999999999999999999999999",
        "2026-11-17T00:00:00Z",
        "''",
        "'\u0000'",
        "'99999999999d'",
        "true",
    ],
)
def test_no_value_of_a_file_breaks_any_setting(tmp_path: Path, hostile: str) -> None:
    """It is taken or refused in a sentence, and what is taken makes settings."""
    for name in table():
        (tmp_path / "layover.toml").write_text(f"{name} = {hostile}\n")
        found = taken_or_refused(folder=tmp_path)
        if isinstance(found, str):
            assert "layover.toml: " in found
        else:
            assert msgspec.json.encode(found.describe())
            runtime_settings(found.engine)


@pytest.mark.parametrize("name", [name for name, row in table().items() if "number" in row.kind.what])
def test_every_number_has_a_bound_that_its_error_names(name: str) -> None:
    told = fault({table()[name].variable: "9" * 17})
    assert re.search(r"(at most|to) [0-9,]{2,}\.|unlimited|auto", told)


@pytest.mark.parametrize("name", [name for name, row in table().items() if "length of time" in row.kind.what])
def test_every_duration_has_a_bound_that_its_error_names(name: str) -> None:
    assert "at most `36500d`" in fault({table()[name].variable: "36501d"})


def test_a_lease_that_no_machine_can_renew_is_refused() -> None:
    assert "of at least 500ms" in fault({"LAYOVER_LEASE_TTL": "1ms"})


def test_a_file_that_is_too_large_is_refused_and_not_cut(tmp_path: Path) -> None:
    (tmp_path / "layover.toml").write_text("calls = 3\n# " + "x" * 1_000_000 + "\nbogus = 1\n")
    assert fault(folder=tmp_path).endswith("layover.toml: It is larger than 1,000,000 bytes.")


def test_a_table_in_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "layover.toml").write_text("[engine]\ncalls = 3\n")
    assert "before any `[table]`" in fault(folder=tmp_path)


@pytest.mark.parametrize("name", [row.name for row in table().values() if row.is_secret])
def test_a_secret_is_shown_nowhere_not_even_if_it_is_wrong(tmp_path: Path, name: str) -> None:
    row = table()[name]
    for secret in ("hidden words", "", "h\u00efdden", "hidden" * 500):
        found = taken_or_refused({row.variable: secret})
        assert "idden" not in (found if isinstance(found, str) else repr(found.describe()))
        if row.is_in_file:
            (tmp_path / "layover.toml").write_text(f'{name} = ["{secret}"]\n')
            assert "idden" not in fault(folder=tmp_path)
            (tmp_path / "layover.toml").unlink()


@pytest.mark.parametrize("name", [name for name, row in table().items() if not row.is_secret])
def test_no_refusal_shows_the_password_of_an_address(tmp_path: Path, name: str) -> None:
    row = table()[name]
    for address in ("ftp://user:hidden@host/x", f"ftp://user:{'hidden' * 20}@host/x", "ftp://host/x?password=hidden"):
        assert "hidden" not in shown_or_refused({row.variable: address})
        if row.is_in_file:
            (tmp_path / "layover.toml").write_text(f'{name} = "{address}"\n')
            assert "hidden" not in shown_or_refused(folder=tmp_path)


def shown_or_refused(environment: Mapping[str, str] | None = None, folder: Path | None = None) -> str:
    found = taken_or_refused(environment, folder)
    return found if isinstance(found, str) else repr(found.describe())


def test_the_file_is_named_by_a_flag_or_by_the_environment(tmp_path: Path) -> None:
    (tmp_path / "layover.toml").write_text("calls = 1\n")
    (tmp_path / "one.toml").write_text("calls = 11\n")
    (tmp_path / "two.toml").write_text("calls = 12\n")
    variable = {"LAYOVER_CONFIG": "two.toml"}

    assert settings(variable, tmp_path).engine.calls == 12
    assert configure(config="one.toml", environment=variable, folder=tmp_path).engine.calls == 11
    assert "one.toml" in str(configure(config="one.toml", environment=variable, folder=tmp_path).file)


def test_a_file_that_was_named_has_to_be_there(tmp_path: Path) -> None:
    assert "No such file" in fault({"LAYOVER_CONFIG": "none.toml"}, tmp_path)


@pytest.mark.parametrize("text", [b"calls = ", b"calls", b"\xff", b"calls = 1\ncalls = 2\n", b"a = " + b"[" * 5000])
def test_a_file_that_cannot_be_read_is_named_in_the_error(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "layover.toml").write_bytes(text)
    assert "layover.toml" in fault(folder=tmp_path)


def test_an_unknown_name_is_refused_with_the_nearest_right_one(tmp_path: Path) -> None:
    (tmp_path / "layover.toml").write_text('leese_ttl = "30s"\n')
    message = fault(folder=tmp_path)
    assert message == "layover.toml: leese_ttl: There is no such setting. Did you mean `lease_ttl`?"
    assert fault({"LAYOVER_LEASE_TLL": "3s"}).endswith("Did you mean `LAYOVER_LEASE_TTL`?")


def test_variables_that_platforms_set_for_a_service_named_layover_are_left_alone() -> None:
    found = settings(
        {
            "LAYOVER_PORT": "tcp://10.0.0.3:8080",
            "LAYOVER_PORT_8080_TCP": "tcp://10.0.0.3:8080",
            "LAYOVER_PORT_8080_TCP_ADDR": "10.0.0.3",
            "LAYOVER_SERVICE_HOST": "10.0.0.3",
            "LAYOVER_SERVICE_PORT": "8080",
            "LAYOVER_SERVICE_PORT_HTTP": "8080",
            "LAYOVER_API_SERVICE_HOST": "10.0.0.4",
            "LAYOVER_API_PORT": "tcp://10.0.0.4:80",
            "LAYOVER_DEBUG": "1",
            "LAYOVER_TEST_POSTGRES": "postgresql:///x",
            "LAYOVER_POLL": "",
            "PATH": "/bin",
        }
    )
    assert found.command == CommandSettings()
    assert found.origin("poll") == "default"


def test_the_address_of_a_server_and_its_key_are_not_taken_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "layover.toml").write_text('url = "http://evil.example"\n')
    assert "LAYOVER_URL or --url" in fault(folder=tmp_path)


def test_all_wrong_settings_are_reported_at_once(tmp_path: Path) -> None:
    (tmp_path / "layover.toml").write_text("calls = true\npoll = 5\n")
    with pytest.raises(InvalidSetting) as raised:
        settings({"LAYOVER_LOG": "loud", "LAYOVER_X": "1"}, tmp_path, port="70000")
    assert [where for where, _ in raised.value.errors] == [
        *("LAYOVER_X", "layover.toml: calls", "layover.toml: poll", "LAYOVER_LOG", "--port")
    ]
    told = dict(raised.value.errors)
    assert told["LAYOVER_LOG"] == (
        "`loud` is not allowed. It takes one of `debug`, `info`, `warning`, `error`, `critical`; "
        "also for single loggers: `info,layover.claimer=debug`."
    )
    assert told["--port"] == "`70000` is not allowed. It takes a whole number from 0 to 65,535."
    assert "written like `500ms`" in told["layover.toml: poll"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ADMIN_KEY", "too-short-a-key"),
        ("ADMIN_KEY", "a key with spaces in it"),
        ("ADMIN_KEY", "a" * 40),
        ("ADMIN_KEY", "1234567890123456"),
        ("ADMIN_KEY", "password12345678"),
        ("ADMIN_KEY", "passwordpassword"),
        ("ADMIN_KEY", "abcdefghijklmnopqrstuvwxyz"),
        ("ADMIN_KEY", "Summer2024Summer2024"),
        ("ADMIN_KEY", "schlüsselschlüsselschlüssel"),
        ("JWT_SECRET", "s" * 40),
        ("JWT_SECRET", "x" * 31),
        ("RATE_LIMIT", "often"),
        ("RATE_LIMIT", "0/m"),
        ("RATE_LIMIT", "5"),
        ("RATE_LIMIT", "5/0s"),
        ("RATE_LIMIT", "5/fortnight"),
        ("GUESS_LIMIT", "often"),
        ("BODY_LIMIT", "0"),
        ("BODY_LIMIT", "much"),
        ("BODY_LIMIT", "9999999999"),
        ("CONNECTIONS", "0"),
        ("CONNECTIONS", "many"),
        ("TRUSTED_PROXIES", "proxy.example.org"),
        ("TRUSTED_PROXIES", "10.0.0.0/33"),
        ("HOSTS", "http://x"),
        ("JWT_ISSUER", "https://id.example.org"),
        ("JWT_JWKS_URL", "http://id.example.org/keys"),
        ("JWT_JWKS_URL", "ftp://id.example.org/keys"),
        ("JWT_JWKS_URL", "https://user:secret@id.example.org/keys"),
        ("JWT_JWKS_URL", "data:application/json,{}"),
        ("JWT_JWKS_URL", "https://[broken"),
        ("JWT_JWKS_URL", "keys.json"),
        ("CALLS", "0"),
        ("CALLS", "-1"),
        ("CALLS", "1.5"),
        ("CALLS", "9" * 40),
        ("CALLS_BY_TYPE", "http"),
        ("CALLS_BY_TYPE", "=3"),
        ("CALLS_BY_TYPE", "http=0"),
        ("LEASE_TTL", "30"),
        ("POLL", "0s"),
        ("HEARTBEAT", "0ms"),
        ("RETENTION", "never"),
        ("JITTER", "perhaps"),
        ("PROCESSES", "65"),
        ("HEALTH", ":9090"),
        ("HEALTH", "localhost"),
        ("HEALTH", "localhost:99999"),
        ("PUBLIC_URL", "layover.example.org"),
        ("URL", "https://[broken"),
    ],
)
def test_a_value_that_cannot_be_used_is_named_with_where_it_came_from(name: str, value: str) -> None:
    message = fault({f"LAYOVER_{name}": value})

    assert message.startswith(f"LAYOVER_{name}: ")
    assert re.search(r"[Ii]t (takes|needs|is|holds) ", message)
    if name in ("ADMIN_KEY", "JWT_SECRET", "JWT_JWKS_URL"):
        assert value not in message


def test_tokens_are_signed_in_one_way() -> None:
    fault({"LAYOVER_JWT_SECRET": SECRET, "LAYOVER_JWT_JWKS_URL": "https://id.example.org/keys"})


def test_the_environment_sets_access() -> None:
    found = settings(
        {
            "LAYOVER_ADMIN_KEY": ADMIN_KEY,
            "LAYOVER_JWT_SECRET": SECRET,
            "LAYOVER_JWT_ISSUER": "https://id.example.org",
            "LAYOVER_JWT_AUDIENCE": "layover",
        }
    )
    jwt = JwtSettings(secret=SECRET, issuer="https://id.example.org", audience="layover")
    assert found.access == AccessSettings(admin_key=ADMIN_KEY, jwt=jwt)


def test_limits_are_read_as_they_are_written() -> None:
    found = settings({"LAYOVER_RATE_LIMIT": "off", "LAYOVER_GUESS_LIMIT": "5/h", "LAYOVER_BODY_LIMIT": "2MiB"}).api
    assert (found.rate_limit, found.guess_limit, found.body_limit) == (None, (5, 3600.0), 2 * 1024 * 1024)
    assert settings(act_wait="3s").api.act_wait == 3.0


def test_what_is_shown_reads_back_as_the_same() -> None:
    for row in table().values():
        shown = row.show(row.default)
        if shown and not row.is_secret and shown != "none":
            assert row.kind.read(shown.replace(",", "")) == row.default, row.name


def test_secrets_and_passwords_are_not_shown() -> None:
    given = {
        "LAYOVER_ADMIN_KEY": ADMIN_KEY,
        "LAYOVER_JWT_SECRET": SECRET,
        "LAYOVER_KEY": "lay_secret",
        "LAYOVER_DB": "postgresql://user:pass-word@db.internal/x?sslpassword=pass-word",
    }
    shown = msgspec.json.encode(settings(given).describe()).decode()
    assert not [secret for secret in (ADMIN_KEY, SECRET, "lay_secret", "pass-word") if secret in shown]
    assert "postgresql://user:***@db.internal/x?sslpassword=***" in shown


def test_a_provider_is_made_of_its_settings() -> None:
    given = {"ISSUER": "https://id.example.org", "CLIENT_ID": "layover", "ROLE_MAP": '{"staff": ["viewer"]}'}
    found = settings({f"LAYOVER_OIDC_{name}": value for name, value in given.items()}).access
    assert found.oidc == OidcSettings(
        issuer="https://id.example.org", client_id="layover", roles={"staff": ("viewer",)}
    )
    assert "Say which roles people get" in fault(
        {"LAYOVER_OIDC_ISSUER": given["ISSUER"], "LAYOVER_OIDC_CLIENT_ID": "x"}
    )
    assert "a JSON object" in fault(
        {**{f"LAYOVER_OIDC_{n}": v for n, v in given.items()}, "LAYOVER_OIDC_ROLE_MAP": "x"}
    )
