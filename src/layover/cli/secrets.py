"""`layover secrets`: which secrets workflows declare, and whether they are there."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from layover.cli.doors import door_to_read
from layover.cli.exits import DONE, FAILED
from layover.cli.options import HERE, At, Json
from layover.cli.screen import print_json, print_table, say

if TYPE_CHECKING:
    from layover import SecretStatus


def list_secrets(*, at: At = HERE, json: Json = False) -> int:
    """List the secrets that workflows declare: where each is from, and who may have it; never values.

    On a database they are looked for here, with the settings and the environment of this command; a server looks where
    it runs. Exit code 1 if one is missing, or is refused to a workflow that declares it.
    """
    found = asyncio.run(_read(at))
    code = DONE if all(one.found and not one.refused for one in found) else FAILED
    if json:
        print_json(found)
        return code
    if not found:
        say("No workflow declares a secret.")
        return code
    table = [["NAME", "FROM", "WORKFLOWS", "REFUSED TO"]]
    table += [[one.name, _source(one), ", ".join(one.workflows), ", ".join(one.refused) or "-"] for one in found]
    print_table(table)
    for one in found:
        if one.problem:
            say(f"{one.name}: {one.problem}.", "red")
    if any(one.refused for one in found):
        say("The setting allow_secrets grants secrets to workflows.")
    return code


def _source(one: SecretStatus) -> str:
    if one.found:
        return f"{one.source} {one.version}".rstrip()
    return "unusable" if one.problem else "missing"


async def _read(at: At) -> list[SecretStatus]:
    async with door_to_read(at) as door:
        return [one async for one in door.secrets()]
