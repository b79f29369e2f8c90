"""`layover audit`: what people did, and the proof of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from layover.admin import new_audit_key, verify_audit
from layover.cli.doors import door_to_read
from layover.cli.exits import DONE, FAILED, Stop
from layover.cli.key_files import PublicKeys, key_texts
from layover.cli.options import HERE, IN, At, Cursor, In, Json, Limit
from layover.cli.screen import note, plural, print_json, print_table, say

if TYPE_CHECKING:
    from layover import AuditEntry, AuditKeySet, Page
    from layover.admin import AuditVerification

_MOST = 100

audit = App(name="audit", help="What people did, and the proof of it.")

User = Annotated[str | None, Parameter(help="Only what this user did.")]
Act = Annotated[str | None, Parameter(help="Only acts of this kind, such as execution.pause.")]
Target = Annotated[str | None, Parameter(help="Only what was done to this: an id, or a name.")]
ExecutionId = Annotated[str | None, Parameter(name="--execution", help="Only what was done to this execution.")]

Heads = Annotated[
    tuple[str, ...],
    Parameter(
        name="--head",
        consume_multiple=False,
        negative="",
        show_default=False,
        help="The head of a seal that a witness has: a receipt, or the log audit_sealed; may be given several times.",
    ),
]


@audit.command(name="ls")
def list_acts(  # noqa: PLR0913 - each is an option
    *,
    user: User = None,
    act: Act = None,
    target: Target = None,
    execution: ExecutionId = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    at: At = HERE,
    json: Json = False,
) -> int:
    """List what people did, newest first."""
    if not 0 < limit <= _MOST:
        raise Stop(f"--limit: from 1 to {_MOST}, not {limit}.")

    async def page() -> Page[AuditEntry]:
        async with door_to_read(at) as door:
            return await door.audit(user=user, act=act, target=target, execution_id=execution).page(limit, cursor)

    found = asyncio.run(page())
    if json:
        print_json(found)
        return DONE
    if not found.items:
        say("No audit entries.")
        return DONE
    table = [["AT", "USER", "ACT", "TARGET", "BY"]]
    table += [[str(one.at), one.user or "-", one.act, one.target, one.credential or "-"] for one in found.items]
    print_table(table)
    if found.next is not None:
        note(f"There may be more: --cursor {found.next}")
    return DONE


@audit.command(name="verify")
def verify(*, head: Heads = (), public: PublicKeys = (), at: In = IN, json: Json = False) -> int:
    """Check that audit entries are what was written. Exit code 0, 1 if something is not, 2 if it cannot be read.

    Heads, signatures, roots and entries are computed anew, and the decisions in logs are compared with entries. The
    newest key has to be that of the secret AUDIT_KEY, as these settings find it, unless keys are given. It only reads.
    """
    configuration = at.configuration
    found = asyncio.run(
        verify_audit(configuration.command.db, heads=head, keys=key_texts(public), settings=configuration.engine)
    )
    if json:
        print_json({"ok": found.ok, **{name: getattr(found, name) for name in found.__struct_fields__}})
    else:
        _say_verification(found)
    return DONE if found.ok else FAILED


_KEYS = {
    "": "The chain is not signed: the secret AUDIT_KEY is not set.",
    "given": "Signatures were checked against the keys given.",
    "current": "Signatures were checked; the newest key is that of AUDIT_KEY.",
    "database": "Signatures were checked only against keys in the database: set AUDIT_KEY, or give --public.",
}


def _say_verification(found: AuditVerification) -> None:
    for one in found.findings:
        say(f"{'seal ' + str(one.seal) if one.seal is not None else 'audit'}: {one.message} [{one.code}]", "red")
    sum_ = "nothing was changed" if found.ok else plural(len(found.findings), "finding")
    say(f"{plural(found.seals, 'seal')}, {found.entries:,} entries: {sum_}", "green" if found.ok else "red")
    if found.seals:
        say(_KEYS[found.key], "yellow" if found.key in ("", "database") else "green")
        say(f"Head: {found.head}")
    if found.purged_through:
        say(f"Retention has deleted the entries of the seals up to {found.purged_through}; the seals are there.")
    if found.erased:
        say(f"{found.erased:,} were erased: seals have their leaves, but nothing proves what they were.")
    if found.unsigned and found.key:
        say(f"{plural(found.unsigned, 'seal')} from before the first key: chained, but not signed.")
    if found.waiting:
        say(f"{found.waiting:,} without a seal yet.")
    for limit in found.limits:
        note(limit)


@audit.command(name="keys")
def list_keys(*, at: At = HERE, json: Json = False) -> int:
    """List the public keys of seals and receipts, with when each was valid. As JSON they are a JWK set."""

    async def read() -> AuditKeySet:
        async with door_to_read(at) as door:
            return await door.audit_keys()

    found = asyncio.run(read())
    if json:
        print_json(found)
        return DONE
    if not found.keys:
        say("No key has signed yet: `layover audit new-key` makes one, for the secret AUDIT_KEY.")
        return DONE
    table = [["ID", "PUBLIC KEY", "SINCE", "UNTIL"]]
    table += [[key.kid, key.x, str(key.since or "-"), str(key.until or "-")] for key in found.keys]
    print_table(table)
    return DONE


@audit.command(name="new-key")
def new_key() -> int:
    """Print a new signing key, for the secret AUDIT_KEY. Nothing is stored."""
    say(new_audit_key())
    return DONE
