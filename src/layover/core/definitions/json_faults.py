"""The sentences for JSON that cannot be read: what was found, and what to write instead."""

from __future__ import annotations

import re

HALF_CHARACTER = "This text holds half of a character (a lone surrogate): write the character itself."
_COMMENT = "JSON has no comments: remove this one, or write the definition as YAML."
_WORD = re.compile(r"[-+.\w$]+")
_LITERALS = {"true": "true", "false": "false", "none": "null", "null": "null", "nil": "null", "undefined": "null"}
_ESCAPES = {"\n": r"\n", "\t": r"\t"}


def quoted(text: str, most: int = 60) -> str:
    """Return a name as it may appear in a sentence."""
    return f"`{text}`" if len(text) <= most else f"`{text[: most - 1]}…`"


def no_value(text: str, at: int, opened: int | None) -> str:
    """Return the sentence for a place where a value should be."""
    mark = text[at : at + 1]
    if not mark:
        return _ended(opened)
    if _begins_comment(text, at):
        return _COMMENT
    if mark in "]}" and text[:at].rstrip(" \t\n").endswith(","):
        return f"Remove the comma before this `{mark}`: JSON allows none after the last entry."
    if mark in "]},:":
        return f"A value is missing before this `{mark}`."
    if mark in "'`":
        return 'JSON writes text in double quotes: "…".'
    word = _WORD.match(text, at)
    if word is None:
        return f"No value begins with {_character(mark)}."
    if mark.isdigit() or mark in "-+.":
        return f"{quoted(word[0])} is not how JSON writes a number; if it is text, put it in double quotes."
    literal = _LITERALS.get(word[0].lower())
    if literal is not None:
        return f"JSON writes `{literal}`, not {quoted(word[0])}."
    return f"{quoted(word[0])} is not a JSON value; if it is text, put it in double quotes."


def no_key(text: str, at: int, opened: int | None) -> str:
    """Return the sentence for a place where the name of a member should be."""
    mark = text[at : at + 1]
    if not mark:
        return _ended(opened)
    if _begins_comment(text, at):
        return _COMMENT
    if mark == "}":
        return "Remove the comma before this `}`: JSON allows none after the last entry."
    if mark == ",":
        return "There is one comma too many here."
    word = _WORD.match(text, at)
    if word is not None:
        return f"Put the name {quoted(word[0])} in double quotes."
    return f'A name in double quotes is expected here, not {_character(mark)}, as in {{"name": 1}}.'


def no_colon(text: str, at: int, key: str) -> str:
    """Return the sentence for a name without a value."""
    return f"Put a colon after {quoted(key)}." if text[at:] else f"The text ends after the name {quoted(key)}."


def between_entries(text: str, at: int, closing: str, opened: int | None) -> str:
    """Return the sentence for a place where an entry or a container should end, or the first entry begin."""
    mark = text[at : at + 1]
    if not mark:
        return _ended(opened)
    if _begins_comment(text, at):
        return _COMMENT
    if mark in "]}":
        return f"This `{mark}` does not match the bracket of line {opened}, which needs a `{closing}`."
    if mark == ",":
        return "There is no entry before this comma."
    if mark == ":":
        return "There is one colon too many here, or a name is not in double quotes."
    return f"Put a comma or `{closing}` here: entries are separated by commas."


def after_the_end(text: str, at: int) -> str:
    """Return the sentence for text after the document."""
    if _begins_comment(text, at):
        return _COMMENT
    return f"The document is complete before {_character(text[at])}: remove the rest, or fix the brackets before it."


def in_string(text: str, at: int, reason: str) -> str:
    """Return the sentence for a fault inside the quotes, given the json module's reason."""
    mark = text[at : at + 1]
    if reason.startswith("Unterminated"):
        return "This text has no closing quote."
    if reason.startswith("Invalid control"):
        escape = _ESCAPES.get(mark, f"\\u{ord(mark):04x}")
        name = {"\n": "a line break", "\t": "a tab"}.get(mark, "a control character")
        return f"The text holds {name}: write it as `{escape}`, or close the quotes."
    if "uXXXX" in reason:
        return r"`\u` needs four hexadecimal digits, as in `\u00e9`."
    return r"A backslash begins an escape (\n, \t, \", \\ or \u00e9): write a backslash itself as `\\`."


def _ended(opened: int | None) -> str:
    if opened is None:
        return "The text ends where a value should begin."
    return f"The text ends before the bracket of line {opened} is closed."


def _begins_comment(text: str, at: int) -> bool:
    return text.startswith(("//", "/*", "#"), at)


def _character(mark: str) -> str:
    return f"`{mark}`" if mark.isprintable() and mark != "`" else f"the character U+{ord(mark):04X}"
