"""Masks secrets in log records, for handlers that Layover has not configured."""

from __future__ import annotations

from logging import Filter, Formatter, LogRecord
from typing import Final

from layover.logs.context import CURRENT_CALL
from layover.masking import Masker
from layover.redaction import has_secrets, mask_secrets

_plain: Final = Formatter()


class SecretFilter(Filter):
    """Masks the secrets that engines of this process know: for handlers of a program that configures logging by itself.

    Messages, tracebacks and texts passed as `extra` are masked. The lines of `configure_logging` are masked anyway.
    """

    def filter(self, record: LogRecord) -> bool:
        """Mask a record; every one passes."""
        masker = getattr(CURRENT_CALL.get(), "masker", None)
        if not has_secrets() and masker is None:
            return True

        def mask(text: str) -> str:
            return mask_secrets(masker.text(text) if isinstance(masker, Masker) else text)

        message = record.getMessage()
        if (masked := mask(message)) != message:
            record.msg, record.args = masked, ()
        if record.exc_info and record.exc_info[0] is not None:
            record.exc_text = mask(record.exc_text or _plain.formatException(record.exc_info))  # formatters use it
        if record.stack_info:
            record.stack_info = mask(record.stack_info)
        for name, value in record.__dict__.items():
            if isinstance(value, str) and name not in _OWN:
                record.__dict__[name] = mask(value)
        return True


_OWN: Final = frozenset(LogRecord("", 0, "", 0, "", (), None).__dict__) | {"message", "asctime"}
