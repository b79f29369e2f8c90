"""The addresses of webhooks with tokens, which are printed once: when they are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.cli.screen import note

if TYPE_CHECKING:
    from layover import WorkflowHandle


def print_addresses(registered: WorkflowHandle, base: str = "") -> None:
    """Print the addresses that a registration has made, beside what a command prints."""
    for name, address in registered.addresses.items():
        print_address(f"{registered.name}/{name}", f"{base}{address}")


def print_address(name: str, address: str) -> None:
    """Print an address."""
    note(f"The webhook {name} is at {address}", "bold")
    note("It is shown this once: who knows it can deliver. `layover triggers rotate-token` makes another.")
