"""Expressions: a subset of CEL with a lexer, parser, checker and compiler of its own, all of them budgeted."""

from layover.core.expressions.checker import check
from layover.core.expressions.errors import BudgetExceeded, ExpressionError
from layover.core.expressions.frame import ExpressionTime
from layover.core.expressions.instants import Duration, Timestamp
from layover.core.expressions.json_text import to_json
from layover.core.expressions.limits import DEFAULT, ExpressionLimits, Meter
from layover.core.expressions.parser import Expression, parse
from layover.core.expressions.program import Program, compile_expression
from layover.core.expressions.signatures import FUNCTIONS
from layover.core.expressions.template import Template
from layover.core.expressions.types import (
    BOOL,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    NULL,
    NUMBER,
    STRING,
    TIMESTAMP,
    ListOf,
    MapOf,
    RecordType,
    Type,
    may_be,
    name_of,
    type_of_schema,
)
from layover.core.expressions.values import Value

__all__ = [
    "BOOL",
    "DEFAULT",
    "DOUBLE",
    "DURATION",
    "DYN",
    "FUNCTIONS",
    "INT",
    "NULL",
    "NUMBER",
    "STRING",
    "TIMESTAMP",
    "BudgetExceeded",
    "Duration",
    "Expression",
    "ExpressionError",
    "ExpressionLimits",
    "ExpressionTime",
    "ListOf",
    "MapOf",
    "Meter",
    "Program",
    "RecordType",
    "Template",
    "Timestamp",
    "Type",
    "Value",
    "check",
    "compile_expression",
    "may_be",
    "name_of",
    "parse",
    "to_json",
    "type_of_schema",
]
