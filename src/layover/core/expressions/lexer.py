"""Characters to tokens.

One regular expression recognises every token, so the work is linear in the text. A token is a plain tuple
`(kind, value, offset)`: for operators the kind is the operator itself. CEL features that Layover leaves out (bytes,
unsigned integers, optionals) are recognised here, for a better message than that of a stray character.
"""

from __future__ import annotations

import re
from typing import Final

from layover.core.expressions.errors import ExpressionError

Token = tuple[str, "str | int | float | None", int]

IDENT: Final = "name"
FIELD: Final = "quoted name"
INT: Final = "int"
DOUBLE: Final = "double"
STRING: Final = "string"
END: Final = "end"

KEYWORDS: Final = frozenset({"in", "true", "false", "null"})
_MAX_DIGITS = 19

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n\f]+|//[^\n]*)
      | (?P<text>(?P<prefix>[rRbB]{0,2})(?P<quote>'''|\"\"\"|'|\"))
      | (?P<double>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
      | (?P<int>0x[0-9a-fA-F]+|[0-9]+)
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | `(?P<field>[A-Za-z0-9_./\ -]+)`
      | (?P<op>&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()\[\]{}])
    """,
    re.VERBOSE,
)
# No possessive repetition of a group, here and elsewhere: Python 3.11.2, which Debian 12 has, gets it wrong.
_BODIES = {
    (quote, raw): re.compile(
        rf"((?:[^{quote[0]}\\{stop}]|{escape}{inner})*){quote}",
        re.DOTALL,
    )
    for quote, stop, inner in (
        ("'", "\r\n", ""),
        ('"', "\r\n", ""),
        ("'''", "", "|'(?!'')"),
        ('"""', "", '|"(?!"")'),
    )
    for raw, escape in ((False, r"\\."), (True, r"\\"))
}
_ESCAPE = re.compile(
    r"""\r\n?|\\(?:([abfnrtv\\'"`?])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))""",
    re.DOTALL,
)
_LINE_ENDS = frozenset({"\r", "\r\n"})
_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def tokenize(source: str, start: int = 0, stop: int | None = None, *, embedded: bool = False) -> list[Token]:
    """Return the tokens of a text, ended by an `end` token; `embedded` text ends at the brace that closes it."""
    tokens: list[Token] = []
    position = start
    end = len(source) if stop is None else min(stop, len(source))
    open_braces = 0
    while position < end:
        match = _TOKEN.match(source, position, end)
        if match is None:
            raise _stray(source, position)
        kind, behind = match.lastgroup, match.end()
        if kind == "op":
            operator = match[0]
            if embedded and operator == "{":
                open_braces += 1
            elif embedded and operator == "}":
                if not open_braces:
                    tokens.append((END, None, position))
                    return tokens
                open_braces -= 1
            tokens.append((operator, operator, position))
        elif kind == "text":
            token, behind = _string(source, match, end)
            tokens.append(token)
        elif kind == "name":
            name = match[0]
            tokens.append((name if name in KEYWORDS else IDENT, name, position))
        elif kind == "field":
            tokens.append((FIELD, match["field"], position))
        elif kind != "space":
            tokens.append(_number(source, match, end))
        position = behind
    if embedded:
        raise ExpressionError("`${` is never closed by `}`.", code="expression_syntax", offset=start)
    tokens.append((END, None, end))
    return tokens


def integer(digits: str, offset: int, *, negative: bool = False) -> int:
    """Return the 64-bit integer that a literal stands for."""
    base = 16 if digits.startswith("0x") else 10
    significant = digits[2:] if base == 16 else digits
    significant = significant.lstrip("0") or "0"
    if len(significant) <= _MAX_DIGITS:
        value = int(significant, base)
        value = -value if negative else value
        if -(2**63) <= value < 2**63:
            return value
    raise ExpressionError("This integer does not fit into 64 bits.", code="expression_syntax", offset=offset)


def _number(source: str, match: re.Match[str], end: int) -> Token:
    start, behind = match.span()
    following = source[behind] if behind < end else ""
    if following in {"u", "U"}:
        raise ExpressionError(
            "Unsigned integers are not supported: leave out the `u`.", code="expression_syntax", offset=behind
        )
    if following.isalpha() or following == "_":
        raise ExpressionError("A number ends where a name begins.", code="expression_syntax", offset=behind)
    if match["double"] is not None:
        return DOUBLE, float(match[0]), start
    return INT, match[0], start


def _string(source: str, match: re.Match[str], end: int) -> tuple[Token, int]:
    offset = match.start()
    prefix = match["prefix"].lower()
    if "b" in prefix:
        raise ExpressionError("Bytes are not supported: leave out the `b`.", code="expression_syntax", offset=offset)
    if len(prefix) > 1:
        raise _stray(source, offset)
    body = _BODIES[match["quote"], prefix == "r"].match(source, match.end(), end)
    if body is None:
        raise ExpressionError("This text is never closed.", code="expression_syntax", offset=offset)
    text = body[1]
    if not prefix and "\\" in text:
        text = _unescape(text, match.end())
    elif "\r" in text:
        text = _one_kind_of_line_end(text)
    return (STRING, text, offset), body.end()


def _unescape(text: str, start: int) -> str:
    def replace(match: re.Match[str]) -> str:
        if match[0] in _LINE_ENDS:
            return "\n"
        simple, byte, short, long, octal, _ = match.groups()
        if simple is not None:
            return _SIMPLE.get(simple, simple)
        digits = byte or short or long
        code = int(digits, 16) if digits else int(octal, 8) if octal else -1
        if code < 0 or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise ExpressionError(
                f"`{match[0]}` is not a valid escape.", code="expression_syntax", offset=start + match.start()
            )
        return chr(code)

    return _ESCAPE.sub(replace, text)


def _one_kind_of_line_end(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _stray(source: str, offset: int) -> ExpressionError:
    character = source[offset]
    before, behind = source[max(offset - 2, 0) : offset], source[offset + 1 : offset + 2]
    if character == "=" and before in {"==", "!="}:
        hint = f" Write `{before}`: values of different kinds are never equal."
    elif character == "=" and behind == ">":
        hint = " There are no arrow functions: write `list.map(x, …)`."
    elif character == "$" and behind == "{":
        hint = " This is an expression already: leave out `${` and `}`."
    elif character in {"&", "|", "="}:
        hint = f" Did you mean `{character * 2}`?"
    elif character == "`":
        hint = " A quoted name looks like `a-b` between backticks."
    else:
        hint = ""
    return ExpressionError(f"`{character}` has no meaning here.{hint}", code="expression_syntax", offset=offset)
