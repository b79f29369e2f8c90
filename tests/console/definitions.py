"""The workflows that the tests of the console look at."""

from __future__ import annotations

from typing import Any, Final

MACHINE: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["model"],
    "properties": {
        "model": {"type": "string", "title": "Model", "enum": ["light", "strong"]},
        "memory": {"type": "integer", "title": "Memory", "default": 32},
    },
}
ONBOARDING: Final[dict[str, Any]] = {
    "name": "onboarding",
    "description": "Accounts, hardware and a desk for somebody who is new.",
    "input": {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "title": "Name"},
            "systems": {"type": "array", "items": {"type": "string"}},
        },
    },
    "nodes": [
        {"id": "prepare", "type": "compute", "output": "${input.name}", "next": "setup"},
        {
            "id": "setup",
            "type": "parallel",
            "branches": [
                {
                    "id": "accounts",
                    "body": [
                        {
                            "id": "each_system",
                            "type": "loop",
                            "for_each": "input.systems",
                            "as": "system",
                            "body": [
                                {"id": "request", "type": "compute", "output": "${system}", "next": "allow"},
                                {"id": "allow", "type": "approval", "title": "Access to ${system} for ${input.name}?"},
                            ],
                        }
                    ],
                },
                {
                    "id": "hardware",
                    "body": [
                        {
                            "id": "choose",
                            "type": "form",
                            "title": "Which machine for ${input.name}?",
                            "schema": MACHINE,
                            "next": "buy",
                        },
                        {"id": "buy", "type": "compute", "output": "ordered"},
                    ],
                },
            ],
            "next": "welcome",
        },
        {"id": "welcome", "type": "compute", "output": "Welcome"},
    ],
}
REFUND: Final[dict[str, Any]] = {
    "name": "refund",
    "nodes": [
        {
            "id": "review",
            "type": "approval",
            "title": "Refund ${input.amount} for order ${input.order}?",
            "shown": {"order": "${input.order}", "amount": "${input.amount}"},
            "deadline": "48h",
            "on_deadline": "reject",
            "leads_to": {"approved": "The money is paid back", "rejected": "The customer is told why"},
        }
    ],
}
BROKEN: Final[dict[str, Any]] = {
    "name": "broken",
    "nodes": [{"id": "share", "type": "compute", "output": "${input.amount / 0}"}],
}
ORDERS: Final[dict[str, Any]] = {
    "name": "orders",
    "nodes": [
        {
            "id": "each_order",
            "type": "loop",
            "for_each": "input.orders",
            "as": "order",
            "body": [{"id": "check", "type": "compute", "output": "${order}"}],
            "next": "confirm",
        },
        {"id": "confirm", "type": "approval", "title": "Send all orders?"},
    ],
}
UNDOABLE: Final[dict[str, Any]] = {
    "name": "undoable",
    "nodes": [{"id": "agree", "type": "approval", "title": "Agree with ${input.who}?", "undo": "1h"}],
}
