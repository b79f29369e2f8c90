"""`layover receipt`: the proof of a decision, and the check of such a proof."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from layover.admin import verify_receipt
from layover.cli.doors import door_to_read
from layover.cli.exits import DONE, FAILED, Stop
from layover.cli.id_prefix import point_named
from layover.cli.key_files import key_texts
from layover.cli.options import HERE, At, By, Json, PointName, acting
from layover.cli.screen import print_json, say

if TYPE_CHECKING:
    from layover import Receipt

_LONGEST = 10_000_000  # bytes of a file

receipt = App(name="receipt", help="The proof of a decision: get it, and check one.")

Of = Annotated[str | None, Parameter(name="--of", show_default=False, help="The user who decided; default: yourself.")]
ReceiptFile = Annotated[str, Parameter(name="FILE", help="The file with the receipt.")]
Keys = Annotated[
    tuple[str, ...],
    Parameter(
        name="--key",
        consume_multiple=False,
        negative="",
        show_default=False,
        help="A public key that you trust: @file with a JWK set, or the x of a JWK; may be given several times.",
    ),
]


@receipt.default
def get_receipt(point: PointName, /, *, of: Of = None, by: By = "", at: At = HERE) -> int:
    """Print the receipt of a decision at a pause point, as JSON: for a file, or for whoever wants proof.

    It can be had once the decision is final and sealed, which takes a second or two. ID is that of the point, or
    EXECUTION:CONTEXT.
    """

    async def read() -> Receipt:
        async with door_to_read(at, acting(at, by, ())) as door:
            return await (await point_named(door, point)).receipt(of)

    print_json(asyncio.run(read()))
    return DONE


@receipt.command(name="verify")
def verify(file: ReceiptFile, /, *, key: Keys = (), json: Json = False) -> int:
    """Check a receipt, without a database or a server. Exit code 0 if it proves what it says, 1 if not.

    The keys have to come from someone you trust: `layover audit keys --json`, or /.well-known/layover-keys.json.
    """
    if not key:
        raise Stop("Give a public key that you trust: --key.")
    try:
        with Path(file).open("rb") as opened:
            given = opened.read(_LONGEST + 1)
    except OSError as error:
        raise Stop(f"{file}: {error.strerror}.") from error
    found = verify_receipt(given, keys=key_texts(key))
    if json:
        print_json({"ok": found.ok, **{name: getattr(found, name) for name in found.__struct_fields__}})
        return DONE if found.ok else FAILED
    for problem in found.problems:
        say(problem, "red")
    if found.ok:
        say(f"{found.user} did {found.act} at {found.at}, to {found.target}.", "green")
        say(f"Sealed in seal {found.seal}, whose head is {found.head}.")
    return DONE if found.ok else FAILED
