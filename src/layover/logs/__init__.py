"""Log lines as events with fields: how they are written, and which ids they carry.

Layover writes with the standard `logging`, below the logger `layover`, and configures nothing by itself: that is done
by `configure_logging`, which the commands `worker`, `serve` and `run` call. A program with a configuration of its own
adds a `CallFilter` and a `SecretFilter` to its handlers, or `structlog_processor` to its processors.
"""

from layover.logs.configuration import configure_logging
from layover.logs.context import CallFilter, structlog_processor
from layover.logs.formatters import JsonFormatter, TextFormatter
from layover.logs.secret_filter import SecretFilter

__all__ = ["CallFilter", "JsonFormatter", "SecretFilter", "TextFormatter", "configure_logging", "structlog_processor"]
