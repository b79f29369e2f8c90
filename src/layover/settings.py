"""The settings of an engine, as programs give them: a length of time is a text such as `30s`, or a `timedelta`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, get_args

import msgspec

from layover.api.access.strength import is_guessable
from layover.core.definitions.destinations import DestinationDefinition, read_destination
from layover.core.definitions.kinds import DESTINATION_PATTERN
from layover.core.notify_rules import load_notify
from layover.errors import InvalidDefinition, InvalidInput
from layover.interface.durations import Duration, milliseconds_of
from layover.ports.directory import Directory
from layover.runtime.settings import RuntimeSettings

if TYPE_CHECKING:
    from layover.core.plan import PlannedNotify
    from layover.errors import Problem


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How much an engine takes on, and how patient it is. The defaults are for a small machine."""

    lease_ttl: Duration = "30s"  # How long other engines wait before they take over from one that no longer renews
    max_iterations: int | None = 10_000  # Rounds of a loop or parallel over data that gives no limit itself
    executions: int = 1_000  # Executions driven at once; more wait their turn, and 0 drives none
    calls: int = 200  # Calls of functions at once
    calls_by_type: dict[str, int] = {}  # Calls at once of single node types
    threads: int = 32  # Threads for functions that are not async: so many of their calls run at once
    give_back_after: Duration = "1s"  # How long an execution waits for a call slot before other engines may take it
    abandoned_threads: int = 32  # Threads that are replaced while functions whose calls were given up hold them
    cache_bytes: int = 6_000_000  # Memory for the states of executions at rest
    ended_bytes: int = 2_000_000  # Memory for the states of closed executions, for callers who wait for results
    log_view_bytes: int = 20_000_000  # Memory for the nodes and legs of long logs, for their next pages
    leg_flush: Duration = "2s"  # How long an execution with `durability: leg` goes on without writing
    snapshot_every: int = 500  # Events between two snapshots while an execution is driven
    snapshot_at_rest: int = 100  # Events since the last snapshot that make another worthwhile at a rest
    snapshot_bytes: int = 64_000_000  # The largest state that is written as a snapshot
    commit_bytes: int = 16_000_000  # Bytes in one group commit; a larger append is written by itself
    append_bytes: int = 256_000_000  # Bytes that an execution may write in one step; it fails if it needs more
    step_events: int = 1_000  # Events decided in one step, before other executions have their turn
    queue_warning: int = 500  # Executions that wait for call slots of one node type, from which on the log warns
    node_logs: bool = False  # Whether what node functions log is kept with their execution
    node_log_bytes: int = 4_000_000  # The most that is kept of it for one execution, compressed
    poll: Duration = "1s"  # The longest time between two looks for due executions
    command_poll: Duration = "200ms"  # The same for commands to executions that this engine drives
    act_wait: Duration = "10s"  # How long an operation waits until its execution has applied it
    wait_poll: Duration = "1s"  # The longest time between two looks at executions waited for here and driven elsewhere
    outbox_poll: Duration = "2s"  # The longest time between two looks for messages that a lost engine left undelivered
    audit_poll: Duration = "10s"  # The longest time between two looks for audit entries of others that wait for a seal
    search_index: bool = True  # Whether it writes the search index; if no engine does, searches by values get slow
    index_after: Duration = "1s"  # How long the search index lets rests gather before it takes them in
    jitter: bool = True  # Whether the times of retries are spread at random, as their policies say
    drain: Duration = "30s"  # How long an operator's pause waits for running calls
    grace: Duration = "10s"  # How long closing waits for running calls
    store_grace: Duration = "5s"  # How long closing waits, besides, for a database that does not answer
    max_takeovers: int = 5  # An execution that loses more instances in a row waits for an operator
    recovery_backoff: Duration = "1s"  # How long one that lost two instances in a row is put off; doubled each time
    suspect_alone: Duration = "10s"  # How long such an execution is then driven alone; doubled each time
    blocked_after: Duration = "1s"  # How long a function may block the event loop before the log names it
    blocked_limit: Duration = "5m"  # How long leases are renewed while a function blocks the event loop
    unhealthy_after: Duration = "1m"  # How long a service may fail by its own errors before `/healthz` says so
    http_timeout: Duration = "30s"  # How long a request of an `http` node may take, unless the node has a `timeout`
    http_private: bool = False  # Whether `http` nodes may reach addresses that are not on the public internet
    public_url: str = "http://localhost:8080"  # Where other systems reach this engine, for callback addresses
    link_key: str | None = None  # Makes the links in mails; while another replaces it, both, the new one first: NEW,OLD
    retention: Duration | None = None  # How long closed executions are kept, unless their workflow has a retention
    signal_retention: Duration = "7d"  # How long signals are kept, for waits that look back
    audit_retention: Duration | None = None  # How long audit entries are kept
    purge_every: Duration = "1m"  # How often expired data is looked for
    redact: Callable[[str], object] | str | None = None  # A function that masks texts of errors, or its `module:name`
    allow_secrets: dict[str, tuple[str, ...]] = {}  # Which workflows may have which secrets; `*` stands for any text
    secrets_file: str | None = None  # A file with a secret on each line, `NAME=value`; only its owner may read it
    secrets_dir: str | None = None  # A directory with a file for each secret, which has its name
    notify: Sequence[Mapping[str, object]] = ()  # Whom to notify of what, beside the `notify` of each workflow
    destinations: Mapping[str, Mapping[str, object]] = {}  # Where deliveries go, by name
    directory: Any = None  # Who people are: a YAML file, a `module:name`, or an object of a program


_SHORTEST_LINK_KEY: Final = 32
_MODULE_AND_NAME: Final = re.compile(r"\w+(\.\w+)*:\w+")
LENGTHS: Final = frozenset(one.name for one in msgspec.structs.fields(Settings) if timedelta in get_args(one.type))


def _function_of(name: str, given: object) -> Callable[[str], object] | None:
    """Return a function that is given by itself, or by where it is: a file or an environment can only name it."""
    found = _imported(name, given) if isinstance(given, str) else given
    if found is not None and not callable(found):
        raise _refused(name, "it is not a function")
    return found


def directory_of(given: Directory | str | None) -> Directory | str | None:
    """Return the directory of a program, or the path of a file that is one."""
    found = _imported("directory", given) if isinstance(given, str) and _MODULE_AND_NAME.fullmatch(given) else given
    if found is None or isinstance(found, str) or (isinstance(found, Directory) and not isinstance(found, type)):
        return found
    raise _refused("directory", "it has no method `people(users, roles)`")


def _imported(name: str, given: str) -> Any:
    module, _, attribute = given.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        fault = f"`{given[:100]}` cannot be imported; name a function as `module:name`"
        raise _refused(name, fault) from error


def notify_of(rules: object) -> tuple[PlannedNotify, ...]:
    """Return the notifications of the settings; InvalidInput says what is wrong with them."""
    try:
        return load_notify(list(rules) if isinstance(rules, list | tuple) else rules)
    except InvalidDefinition as error:
        raise _misread("notify", error.problems, "$.notify") from error


def destinations_of(given: object) -> dict[str, DestinationDefinition]:
    """Return the destinations of the settings; InvalidInput says what is wrong with them."""
    if not isinstance(given, Mapping):
        raise _refused("destinations", "they are a mapping of names to destinations")
    found: dict[str, DestinationDefinition] = {}
    for name, written in given.items():
        if not isinstance(name, str) or not re.fullmatch(DESTINATION_PATTERN, name):
            raise _refused("destinations", f"a destination cannot be called {name!r:.100}")
        try:
            found[name] = read_destination(dict(written) if isinstance(written, Mapping) else written)
        except InvalidDefinition as error:
            raise _misread(f"destinations.{name}", error.problems, "$") from error
    return found


def link_keys_of(given: object) -> tuple[str, ...]:
    """Return the keys that links in mails are made with; their texts are in no error."""
    if given is None:
        return ()
    keys = [one.strip() for one in given.split(",")] if isinstance(given, str) else [""]
    if any(len(one) < _SHORTEST_LINK_KEY or is_guessable(one) for one in keys):
        fault = (
            f"each key needs at least {_SHORTEST_LINK_KEY} characters that cannot be guessed: `openssl rand -hex 32`"
        )
        raise _refused("link_key", fault)
    return tuple(keys)


def _misread(name: str, problems: Sequence[Problem], root: str) -> InvalidInput:
    places = tuple((f"{name}{one.path.removeprefix(root)}", one.message) for one in problems)
    return InvalidInput(f"`{places[0][0]}`: {places[0][1]}", places, code="invalid_parameter")


def _refused(name: str, fault: str) -> InvalidInput:
    return InvalidInput(f"`{name}`: {fault}.", ((name, fault),), code="invalid_parameter")


def _check_grants(allowed: object) -> None:
    """Refuse grants of secrets that are not lists of names by workflow: a text would be taken for a list of letters."""
    try:
        msgspec.convert(allowed, dict[str, tuple[str, ...]])
    except msgspec.ValidationError as error:
        raise _refused("allow_secrets", 'it is written like `{"billing-*": ("STRIPE_KEY",)}`') from error


def runtime_settings(settings: Settings | None) -> RuntimeSettings:
    """Return settings as a runtime has them: all times in milliseconds."""
    if settings is None:
        return RuntimeSettings()
    if not isinstance(settings, Settings):  # Python passes whatever it is given
        raise InvalidInput(
            "`settings` are `layover.Settings`.", (("settings", "not Settings"),), code="invalid_parameter"
        )
    given = msgspec.structs.asdict(settings)
    given["redact"] = _function_of("redact", settings.redact)
    given["notify"] = notify_of(settings.notify)
    given["destinations"] = destinations_of(settings.destinations)
    given["directory"] = directory_of(settings.directory)
    given["link_key"] = link_keys_of(settings.link_key)
    _check_grants(settings.allow_secrets)
    return RuntimeSettings(
        **{name: milliseconds_of(name, value) if name in LENGTHS else value for name, value in given.items()}
    )
