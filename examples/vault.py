"""A payment whose key comes from a vault: the log has its name, and a rotated key counts without a restart.

The function gets the key as a plain text, and even returns it; what is stored has `***PAYMENT_KEY***` in its place. The
first attempt fails, because the vault has no key yet. The retry policy of the node takes care of that.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from layover import Engine, Retry, Secret, Settings, Workflow


class Vault:
    """Stands in for the client of a vault, with versions of one key."""

    def __init__(self) -> None:
        self.versions: list[str] = []

    async def get(self, name: str) -> Secret | None:
        """Return the newest version of a secret."""
        if name != "PAYMENT_KEY" or not self.versions:
            return None
        return Secret(self.versions[-1], version=str(len(self.versions)))


async def pay(key: str, amount: int) -> dict[str, object]:
    """Pay, and be careless with the key."""
    return {"paid": amount, "receipt": f"signed with {key}"}


flow = Workflow("payment", secrets=["PAYMENT_KEY"])
flow.call(
    "pay",
    pay,
    input={"key": "${secrets.PAYMENT_KEY}", "amount": "${input.amount}"},
    retry=Retry(max_attempts="forever", delay="2s"),
)


async def main(database: Path) -> None:
    """Pay with a key that is not there at first."""
    vault, settings = Vault(), Settings(allow_secrets={"payment": ("PAYMENT_KEY",)}, jitter=False)
    async with Engine(f"sqlite:///{database}", workflows=[flow], secrets=[vault], settings=settings) as engine:
        execution = await engine.start("payment", {"amount": 80}, until="rest")
        print((await execution.why()).summary)
        vault.versions.append("sk_live_first_key")
        print(await execution.result(timeout="30s"))
        async for node in execution.nodes():
            print(node.input)
        async for secret in engine.secrets():
            print(f"{secret.name}: from {secret.source}, version {secret.version}, for {', '.join(secret.workflows)}")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else "vault.db")))
