"""Reads YAML into a tree whose every key and value knows its line and column.

PyYAML's parser (libyaml where it was built with it) gives a stream of events; their meaning is decided here, by the
core schema of YAML 1.2 and by what JSON can hold: keys are text, no key comes twice, nothing is merged, no tag makes
anything but JSON values. The events, and not PyYAML's composer, because they come one at a time and without recursion:
reading ends at the event that passes a bound, however much text follows.

Invariants: an alias shares the value it names, and counts as if that value were written out again. So the bounds on
values and depth hold for the expanded document, and later walks over the tree do bounded work. Characters on which
readers of YAML disagree are refused before parsing (see `_CHARACTERS`). Faults in the syntax and passed bounds end the
reading; everything else is reported and reading goes on, with 0 for a refused number and the first of two equal keys.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NoReturn

import yaml

from layover.core.definitions import yaml_faults
from layover.core.definitions.json_faults import HALF_CHARACTER, quoted
from layover.core.definitions.line_numbers import line_and_column
from layover.core.definitions.stop_reading import StopReading
from layover.core.definitions.tree import SourcePosition, Tree, Value
from layover.core.definitions.yaml_scalars import WORDS, RefusedNumber, meaning

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.core.definitions.limits import DefinitionLimits
    from layover.core.definitions.problems import Problems

_LOADER: type[yaml.CSafeLoader | yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# Characters that YAML does not allow; a byte order mark anywhere but at the start; and three line breaks that are
# breaks in YAML 1.1 and none in 1.2, which the parser would fold into blanks.
_CHARACTERS = re.compile("[^\t\n\r -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]").search
_SURROGATE = re.compile("[\ud800-\udfff]").search
# libyaml compares every %TAG line with all before it.
_TAG_LINE = re.compile(r"(?:\A|[\r\n])%TAG")
_MOST_TAG_LINES: Final = 20

_CORE: Final = "tag:yaml.org,2002:"
_SCALAR_TAGS = frozenset(_CORE + name for name in ("str", "int", "float", "bool", "null"))
_MERGE = "YAML's merge key `<<` is not supported: write the entries out, or put `<<` in quotes if it is a name."
_COMPLEX_KEY = "A name is expected here, not a list or a mapping; put text that begins with `{`, `[` or `?` in quotes."

# These faults are noticed far behind the position where they begin.
_TOLD_AT_THE_END: Final = ("while scanning a quoted scalar", "while scanning a simple key")
_ALIAS_KEY = "An alias cannot stand as a key: write the name itself."


def read_yaml(text: str, problems: Problems, limits: DefinitionLimits) -> Tree | None:
    """Return the value that a YAML text spells, or None if it cannot be read; the problems say why."""
    reader = _Reader(problems, limits)
    try:
        _refuse_characters(text)
        for event in yaml.parse(text, Loader=_LOADER):
            reader.take(event)
        return reader.result()
    except StopReading as stop:
        problems.add(stop.code, stop.place, stop.message)
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # the last two: escapes that PyYAML fails to check
        _report_fault(text, error, reader.place, problems)
    return None


class _Open:
    """A list or a mapping whose end has not been read; a mapping may have read a key that awaits its value."""

    __slots__ = ("anchored", "before", "height", "items", "key", "key_place", "members", "place")

    def __init__(self, members: dict[str, Tree] | None, place: SourcePosition, before: int) -> None:
        self.members = members
        self.items: list[Tree] = []
        self.place = place
        self.before = before
        self.height = 1
        self.key: str | None = None
        self.key_place: SourcePosition | None = None
        self.anchored: _Anchored | None = None


class _Anchored:
    """The value that an anchor names, and how much an alias adds; nothing while it is being read."""

    __slots__ = ("height", "tree", "values")

    def __init__(self, tree: Tree, values: int = 0, height: int = 0) -> None:
        self.tree = tree
        self.values = values
        self.height = height


class _Reader:
    def __init__(self, problems: Problems, limits: DefinitionLimits) -> None:
        self._problems = problems
        self._limits = limits
        self._root: Tree | None = None
        self._values = 0
        self._documents = 0
        self._open: list[_Open] = []
        self._anchors: dict[str, _Anchored] = {}
        self._take: dict[type[yaml.Event], Callable[[Any], None]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.MappingStartEvent: self._begin,
            yaml.SequenceStartEvent: self._begin,
            yaml.MappingEndEvent: self._end,
            yaml.SequenceEndEvent: self._end,
            yaml.AliasEvent: self._alias,
            yaml.DocumentStartEvent: self._document,
        }

    def take(self, event: yaml.Event) -> None:
        """Process one event."""
        take = self._take.get(type(event))
        if take is not None:
            take(event)

    def result(self) -> Tree:
        if self._root is None:
            raise StopReading("empty_document", SourcePosition(None, None, 1, 1), "The document is empty.")
        return self._root

    @property
    def place(self) -> SourcePosition:
        """The innermost open list or mapping."""
        return self._open[-1].place if self._open else SourcePosition(None, None)

    def _document(self, event: yaml.Event) -> None:
        self._documents += 1
        if self._documents > 1:
            message = "A second document begins here: a definition is one document. Remove the `---`."
            raise StopReading("several_documents", _at(None, None, event), message)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        if self._open:
            container = self._open[-1]
            if container.members is not None and container.key is None:
                return self._key(container, event)
        place = self._next_place(event)
        value = self._scalar_value(event, place)
        if value is None and not self._open and not event.value and not event.tag:
            raise StopReading("empty_document", place, "The document is empty.")
        column = _text_column(event) if value.__class__ is str else None
        tree = self._add(value, place, column)
        if event.anchor:
            self._anchors[event.anchor] = _Anchored(tree, 1)
        return None

    def _key(self, container: _Open, event: yaml.ScalarEvent) -> None:
        key = event.value
        place = container.key_place = _at(container.place, key, event)
        if event.tag:
            self._check_tag(event, _SCALAR_TAGS, place)
        elif not event.style and key == "<<":
            self._problems.add("merge_key", place, _MERGE)
        elif not event.style and key in WORDS and WORDS[key] is None:
            what = f"{quoted(key)} means null" if key else "A name is missing"
            self._problems.add("bad_key", place, f"{what}: a key is text. Put it in quotes if it is meant as a name.")
        container.key = self._whole_text(key, place)
        if event.anchor:
            self._anchors[event.anchor] = _Anchored(Tree(container.key, place), 1)

    def _scalar_value(self, event: yaml.ScalarEvent, place: SourcePosition) -> bool | int | float | str | None:
        try:
            if event.tag:
                return self._tagged(event, place)
            if event.style:
                return self._whole_text(event.value, place)
            return meaning(event.value, self._limits.number_digits)
        except RefusedNumber as refused:
            self._problems.add(refused.code, place, refused.message)
            return 0

    def _tagged(self, event: yaml.ScalarEvent, place: SourcePosition) -> bool | int | float | str | None:
        """Return the value of a scalar whose tag says its type."""
        tag, text = str(event.tag), self._whole_text(event.value, place)
        if not self._check_tag(event, _SCALAR_TAGS, place) or tag in {"!", _CORE + "str"}:
            return text
        value = meaning(text, self._limits.number_digits)
        if tag == _CORE + "float" and type(value) is int:
            return float(value)
        if tag != _CORE + _kind(value):
            name = tag.removeprefix(_CORE)
            self._problems.add("bad_tag", place, f"{quoted(text)} does not match its tag `!!{name}`.")
        return value

    def _check_tag(self, event: yaml.NodeEvent, known: frozenset[str], place: SourcePosition) -> bool:
        tag = str(getattr(event, "tag", None) or "!")
        if tag == "!" or tag in known:
            return True
        name = tag.replace(_CORE, "!!", 1)
        self._problems.add("bad_tag", place, f"The tag {quoted(name)} cannot be used here: remove it.")
        return False

    def _begin(self, event: yaml.CollectionStartEvent) -> None:
        place = self._next_place(event)
        if len(self._open) == self._limits.depth:
            self._stop_deep(place)
        mapping = type(event) is yaml.MappingStartEvent
        opened = _Open({} if mapping else None, place, self._values)
        tree = self._add(opened.items if opened.members is None else opened.members, place)
        self._check_tag(event, frozenset({_CORE + ("map" if mapping else "seq")}), place)
        if event.anchor:
            opened.anchored = self._anchors[event.anchor] = _Anchored(tree)
        self._open.append(opened)

    def _end(self, _event: yaml.Event) -> None:
        ended = self._open.pop()
        if ended.anchored is not None:
            ended.anchored.values = self._values - ended.before
            ended.anchored.height = ended.height
        self._raise_height(ended.height)

    def _alias(self, event: yaml.AliasEvent) -> None:
        place = self._next_place(event)
        name = event.anchor or ""
        anchored = self._anchors.get(name)
        if anchored is None:
            what = f"No anchor {quoted('&' + name)} stands before this alias"
            self._problems.unknown("unknown_alias", place, what, name, self._anchors)
            self._add(None, place)
        elif not anchored.values:
            message = f"The alias {quoted('*' + name)} stands inside the value that its anchor names."
            self._problems.add("cyclic_alias", place, message)
            self._add(None, place)
        else:
            if len(self._open) + anchored.height > self._limits.depth:
                self._stop_deep(place)
            self._values += anchored.values - 1
            self._raise_height(anchored.height)
            self._add(anchored.tree.value, place)

    def _next_place(self, event: yaml.Event) -> SourcePosition:
        """Return the position of the value that an event begins; refuse it where a key is expected."""
        if not self._open:
            return _at(None, None, event)
        container = self._open[-1]
        if container.members is None:
            return _at(container.place, len(container.items), event)
        if container.key is None:
            place = _at(container.place.parent, container.place.key, event)
            raise StopReading("bad_key", place, _ALIAS_KEY if type(event) is yaml.AliasEvent else _COMPLEX_KEY)
        return _at(container.place, container.key, event)

    def _add(self, value: Value, place: SourcePosition, text_column: int | None = None) -> Tree:
        self._values += 1
        if self._values > self._limits.values:
            message = f"The document has more than {self._limits.values} values, aliases written out."
            raise StopReading("too_large", place, message)
        if not self._open:
            self._root = tree = Tree(value, place, None, text_column)
            return tree
        container = self._open[-1]
        tree = Tree(value, place, container.key_place, text_column)
        if container.members is None:
            container.items.append(tree)
        elif container.key is not None:
            self._add_member(container.members, container.key, tree)
            container.key = None
        return tree

    def _add_member(self, members: dict[str, Tree], key: str, tree: Tree) -> None:
        first = members.setdefault(key, tree)
        if first is not tree:
            message = f"{quoted(key)} is given twice; it is already in line {first.key_place.line}."
            self._problems.add("duplicate_key", tree.key_place, message)

    def _raise_height(self, below: int) -> None:
        if self._open and self._open[-1].height <= below:
            self._open[-1].height = below + 1

    def _stop_deep(self, place: SourcePosition) -> NoReturn:
        message = f"The document nests deeper than {self._limits.depth} levels, aliases written out."
        raise StopReading("too_deep", place, message)

    def _whole_text(self, text: str, place: SourcePosition) -> str:
        """Refuse half characters, which PyYAML's own parser makes of escapes; libyaml refuses them itself."""
        if not text.isascii() and _SURROGATE(text):
            self._problems.add("bad_text", place, HALF_CHARACTER)
            return "\ufffd"
        return text


def _at(parent: SourcePosition | None, key: str | int | None, event: yaml.Event) -> SourcePosition:
    mark = event.start_mark
    return (
        SourcePosition(parent, key, mark.line + 1, mark.column + 1) if mark is not None else SourcePosition(parent, key)
    )


def _text_column(event: yaml.ScalarEvent) -> int | None:
    """Return the column where a text begins if it is on one line and unescaped, quoted or not."""
    start, end = event.start_mark, event.end_mark
    if start is None or end is None or start.line != end.line or event.style in {"|", ">"}:
        return None
    quotes = 2 if event.style else 0
    as_written = end.column - start.column == len(event.value) + quotes
    return start.column + 1 + quotes // 2 if as_written else None


def _kind(value: object) -> str:
    if value is None:
        return "null"
    return "str" if isinstance(value, str) else type(value).__name__


def _refuse_characters(text: str) -> None:
    match = _CHARACTERS(text)
    if match is not None:
        code, message = _about(match[0])
        raise StopReading(code, SourcePosition(None, None, *line_and_column(text, match.start())), message)
    for number, match in enumerate(_TAG_LINE.finditer(text), 1):
        if number > _MOST_TAG_LINES:
            place = SourcePosition(None, None, *line_and_column(text, match.end() - 4))
            raise StopReading("syntax", place, "Remove the `%TAG` lines: a definition needs none.")


def _about(character: str) -> tuple[str, str]:
    number = ord(character)
    if 0xD800 <= number <= 0xDFFF:
        return "bad_text", HALF_CHARACTER
    if number == 0xFEFF:
        return "bad_text", "A byte order mark stands inside the text: remove it."
    if character in "\x85\u2028\u2029":
        name = {"\x85": r"\N", "\u2028": r"\L", "\u2029": r"\P"}[character]
        return (
            "bad_text",
            f"Some readers take U+{number:04X} for a line break: write `{name}` in double quotes, or break the line.",
        )
    escape = rf"\x{number:02x}" if number < 256 else rf"\u{number:04x}"
    return "syntax", f"The control character U+{number:04X} is not allowed in YAML: write `{escape}` in double quotes."


def _report_fault(text: str, error: Exception, place: SourcePosition, problems: Problems) -> None:
    said, line, column, opened = "", place.line or 1, place.column or 1, place.line
    if isinstance(error, yaml.MarkedYAMLError):
        said = ", ".join(part for part in (error.context, error.problem) if part)
        mark = error.context_mark if said.startswith(_TOLD_AT_THE_END) else error.problem_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (line, column)
        # libyaml may mark the end on a line of its own
        line, column = min((line, column), line_and_column(text, len(text)))
        opened = error.context_mark.line + 1 if error.context_mark else line
    message = yaml_faults.sentence(text, said or str(error), line, column, opened)
    code = "bad_tag" if "tag handle" in said else "syntax"
    problems.add(code, SourcePosition(place.parent, place.key, line, column), message)
