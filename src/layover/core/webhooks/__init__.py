"""Signatures of webhooks: bytes in, a verdict out. Pure: the clock is an argument, and no input raises an error.

    verdict = verify(HookCheck("stripe"), HookDelivery(headers, body), [WebhookSecret("whsec_…", until=None)], now)
    match verdict:
        case Verified(input_id=known_by, challenge=text): ...  # answer the challenge with its text, if there is one
        case RefusedHook(reason=why, skew=difference): ...         # 401; count it by its reason

Names of headers are lower-case. `sign` makes the headers that a sender of a scheme makes.
"""

from layover.core.webhooks.delivery import (
    SCHEMES,
    HookCheck,
    HookDelivery,
    Reason,
    RefusedHook,
    Scheme,
    Verdict,
    Verified,
    WebhookSecret,
)
from layover.core.webhooks.signatures import token_hash, verify
from layover.core.webhooks.signing import sign
from layover.core.webhooks.tokens import has_form_of_hook_token, new_hook_token

__all__ = [
    "SCHEMES",
    "HookCheck",
    "HookDelivery",
    "Reason",
    "RefusedHook",
    "Scheme",
    "Verdict",
    "Verified",
    "WebhookSecret",
    "has_form_of_hook_token",
    "new_hook_token",
    "sign",
    "token_hash",
    "verify",
]
