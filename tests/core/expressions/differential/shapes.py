"""Every operator, macro and function that the comparison builds expressions from, one row per overload and form."""

from __future__ import annotations

from .kinds import Kind, Shape

INT, INDEX, DOUBLE, NUMBER, STRING, BOOL = Kind.INT, Kind.INDEX, Kind.DOUBLE, Kind.NUMBER, Kind.STRING, Kind.BOOL
INTS, DOUBLES, STRINGS, MIXED, MAP = Kind.INTS, Kind.DOUBLES, Kind.STRINGS, Kind.MIXED, Kind.MAP
TIMESTAMP, DURATION, ANY = Kind.TIMESTAMP, Kind.DURATION, Kind.ANY

_ARITHMETIC = (
    *(
        Shape(f"_{sign}_ {kind.value}", kind, f"{{0:{place}}} {sign} {{1:{tighter}}}", (kind, kind), place)
        for sign, place, tighter in (
            ("+", "add", "mul"),
            ("-", "add", "mul"),
            ("*", "mul", "unary"),
            ("/", "mul", "unary"),
        )
        for kind in (INT, DOUBLE)
    ),
    Shape("_%_ int", INT, "{0:mul} % {1:unary}", (INT, INT), "mul"),
    Shape("-_ int", INT, "-{0:member}", (INT,), "unary"),
    Shape("-_ double", DOUBLE, "-{0:member}", (DOUBLE,), "unary"),
    Shape("-_ int", INT, "--{0:member}", (INT,), "unary"),
    Shape("_+_ string", STRING, "{0:add} + {1:mul}", (STRING, STRING), "add"),
    Shape("_+_ list", INTS, "{0:add} + {1:mul}", (INTS, INTS), "add"),
    Shape("_+_ list", STRINGS, "{0:add} + {1:mul}", (STRINGS, STRINGS), "add"),
    Shape("_+_ list", MIXED, "{0:add} + {1:mul}", (MIXED, MIXED), "add"),
    Shape("_+_ timestamp", TIMESTAMP, "{0:add} + {1:mul}", (TIMESTAMP, DURATION), "add"),
    Shape("_+_ timestamp", TIMESTAMP, "{0:add} + {1:mul}", (DURATION, TIMESTAMP), "add"),
    Shape("_+_ duration", DURATION, "{0:add} + {1:mul}", (DURATION, DURATION), "add"),
    Shape("_-_ timestamp", TIMESTAMP, "{0:add} - {1:mul}", (TIMESTAMP, DURATION), "add"),
    Shape("_-_ timestamps", DURATION, "{0:add} - {1:mul}", (TIMESTAMP, TIMESTAMP), "add"),
    Shape("_-_ duration", DURATION, "{0:add} - {1:mul}", (DURATION, DURATION), "add"),
)

_COMPARISON = (
    *(
        Shape(f"_{sign}_ {kind.value}", BOOL, f"{{0:rel}} {sign} {{1:add}}", (kind, kind), "rel")
        for sign in ("<", "<=", ">", ">=")
        for kind in (NUMBER, STRING, BOOL, TIMESTAMP, DURATION)
    ),
    *(
        Shape(f"_{sign}_ {kind.value}", BOOL, f"{{0:rel}} {sign} {{1:add}}", (kind, kind), "rel")
        for sign in ("==", "!=")
        for kind in (NUMBER, STRING, BOOL, INTS, MIXED, MAP, TIMESTAMP, DURATION, ANY)
    ),
    Shape("_==_ null", BOOL, "{0:rel} == null", (ANY,), "rel"),
    Shape("_==_ numeric lists", BOOL, "{0:rel} == {1:add}", (INTS, DOUBLES), "rel"),
    Shape("_in_ list", BOOL, "{0:rel} in {1:add}", (NUMBER, INTS), "rel"),
    Shape("_in_ list", BOOL, "{0:rel} in {1:add}", (STRING, STRINGS), "rel"),
    Shape("_in_ list", BOOL, "{0:rel} in {1:add}", (ANY, MIXED), "rel"),
    Shape("_in_ map", BOOL, "{0:rel} in {1:add}", (STRING, MAP), "rel"),
    Shape("_in_ map", BOOL, "'a' in {0:add}", (MAP,), "rel"),
)

_LOGIC = (
    Shape("_&&_", BOOL, "{0:and} && {1:rel}", (BOOL, BOOL), "and"),
    Shape("_||_", BOOL, "{0:or} || {1:and}", (BOOL, BOOL), "or"),
    Shape("_&&_", BOOL, "{0:and} && {1:rel} && {2:rel}", (BOOL, BOOL, BOOL), "and"),
    Shape("_||_", BOOL, "{0:or} || {1:and} || {2:and}", (BOOL, BOOL, BOOL), "or"),
    Shape("!_", BOOL, "!{0:member}", (BOOL,), "unary"),
    Shape("!_", BOOL, "!!{0:member}", (BOOL,), "unary"),
    *(
        Shape("_?_:_", kind, "{0:or} ? {1:or} : {2:any}", (BOOL, kind, kind), "any")
        for kind in (INT, DOUBLE, STRING, BOOL, INTS, MAP, TIMESTAMP, DURATION, ANY)
    ),
)

_AGGREGATES = (
    Shape("[…]", INTS, "[{0:any}]", (INT,)),
    Shape("[…]", INTS, "[{0:any}, {1:any}, {2:any},]", (INT, INT, INT)),
    Shape("[…]", DOUBLES, "[{0:any}, {1:any}]", (DOUBLE, DOUBLE)),
    Shape("[…]", STRINGS, "[{0:any}, {1:any}]", (STRING, STRING)),
    Shape("[…]", MIXED, "[{0:any}, {1:any}]", (ANY, ANY)),
    Shape("{…}", MAP, "{{'a': {0:any}}}", (ANY,)),
    Shape("{…}", MAP, "{{'a': {0:any}, \"b\": {1:any},}}", (INT, ANY)),
    Shape("{…}", MAP, "{{{0:any}: 1, 'b': 2}}", (STRING,)),
    Shape("_[_] list", INT, "{0:member}[{1:any}]", (INTS, INDEX)),
    Shape("_[_] list", STRING, "{0:member}[{1:any}]", (STRINGS, INDEX)),
    Shape("_[_] list", ANY, "{0:member}[{1:any}]", (MIXED, NUMBER)),
    Shape("_[_] map", ANY, "{0:member}[{1:any}]", (MAP, STRING)),
    Shape("_[_] map", ANY, "{0:member}['a']", (MAP,)),
    Shape("_._", ANY, "{0:member}.a", (MAP,)),
    Shape("_._", ANY, "{0:member}.b.a", (MAP,)),
    Shape("has", BOOL, "has({0:any})", (Kind.PATH,)),
    Shape("has", BOOL, "has({0:member}.b)", (MAP,)),
    Shape("size string", INT, "size({0:any})", (STRING,)),
    Shape("size string", INT, "{0:member}.size()", (STRING,)),
    Shape("size list", INT, "{0:member}.size()", (MIXED,)),
    Shape("size list", INT, "size({0:any})", (STRINGS,)),
    Shape("size map", INT, "size({0:any})", (MAP,)),
)


def _macros(range_kind: Kind, element: Kind) -> tuple[Shape, ...]:
    """Return the macros over one kind of range; `{v}` stands for a fresh variable."""
    gives_elements = {INT: INTS, STRING: STRINGS, DOUBLE: DOUBLES, ANY: MIXED}
    return (
        *(
            Shape(
                f"{name} {range_kind.value}",
                BOOL,
                f"{{0:member}}.{name}({{v}}, {{1:any}})",
                (range_kind, BOOL),
                binds=element,
            )
            for name in ("all", "exists", "exists_one")
        ),
        Shape(
            f"filter {range_kind.value}",
            gives_elements[element],
            "{0:member}.filter({v}, {1:any})",
            (range_kind, BOOL),
            binds=element,
        ),
        *(
            Shape(
                f"map {range_kind.value}",
                gives_elements[result],
                "{0:member}.map({v}, {1:any})",
                (range_kind, result),
                binds=element,
            )
            for result in (INT, STRING)
        ),
        Shape(
            f"map with a filter {range_kind.value}",
            MIXED,
            "{0:member}.map({v}, {1:any}, {2:any})",
            (range_kind, BOOL, ANY),
            binds=element,
        ),
    )


_MACROS = (
    *_macros(INTS, INT),
    *_macros(STRINGS, STRING),
    *_macros(MIXED, ANY),
    # Google iterates a map in an order of its own: only results that do not depend on the order are compared.
    Shape("all map", BOOL, "{0:member}.all({v}, {1:any})", (MAP, BOOL), binds=STRING),
    Shape("exists map", BOOL, "{0:member}.exists({v}, {1:any})", (MAP, BOOL), binds=STRING),
    Shape("exists_one map", BOOL, "{0:member}.exists_one({v}, {v} == 'a' || {1:and})", (MAP, BOOL), binds=STRING),
    Shape("filter map", STRINGS, "{0:member}.filter({v}, {v} == 'a')", (MAP,), binds=STRING),
    Shape("map map", INTS, "{0:member}.map({v}, {v} != '', 1)", (MAP,), binds=STRING),
    Shape("map map", STRINGS, "{{'k': {0:any}}}.map({v}, {1:any})", (ANY, STRING), binds=STRING),
)

_STRINGS = (
    Shape("contains", BOOL, "{0:member}.contains({1:any})", (STRING, STRING)),
    Shape("startsWith", BOOL, "{0:member}.startsWith({1:any})", (STRING, STRING)),
    Shape("endsWith", BOOL, "{0:member}.endsWith({1:any})", (STRING, STRING)),
    Shape("matches", BOOL, "{0:member}.matches({1:any})", (STRING, Kind.PATTERN)),
    Shape("lowerAscii", STRING, "{0:member}.lowerAscii()", (STRING,)),
    Shape("upperAscii", STRING, "{0:member}.upperAscii()", (STRING,)),
    Shape("trim", STRING, "{0:member}.trim()", (STRING,)),
    Shape("reverse", STRING, "{0:member}.reverse()", (STRING,)),
    Shape("split", STRINGS, "{0:member}.split({1:any})", (STRING, STRING)),
    Shape("split", STRINGS, "{0:member}.split({1:any}, {2:any})", (STRING, STRING, INDEX)),
    Shape("split", STRINGS, "{0:member}.split('')", (STRING,)),
    Shape("join", STRING, "{0:member}.join()", (STRINGS,)),
    Shape("join", STRING, "{0:member}.join({1:any})", (STRINGS, STRING)),
    Shape("replace", STRING, "{0:member}.replace({1:any}, {2:any})", (STRING, STRING, STRING)),
    Shape("replace", STRING, "{0:member}.replace({1:any}, {2:any}, {3:any})", (STRING, STRING, STRING, INDEX)),
    Shape("substring", STRING, "{0:member}.substring({1:any})", (STRING, INDEX)),
    Shape("substring", STRING, "{0:member}.substring({1:any}, {2:any})", (STRING, INDEX, INDEX)),
    Shape("indexOf", INT, "{0:member}.indexOf({1:any})", (STRING, STRING)),
    Shape("indexOf", INT, "{0:member}.indexOf({1:any}, {2:any})", (STRING, STRING, INDEX)),
    Shape("lastIndexOf", INT, "{0:member}.lastIndexOf({1:any})", (STRING, STRING)),
    Shape("lastIndexOf", INT, "{0:member}.lastIndexOf({1:any}, {2:any})", (STRING, STRING, INDEX)),
    Shape("charAt", STRING, "{0:member}.charAt({1:any})", (STRING, INDEX)),
    Shape("format %s", STRING, "'<%s>'.format([{0:any}])", (STRING,)),
    Shape("format %s", STRING, "'%s, %%, %s'.format([{0:any}, {1:any}])", (INT, BOOL)),
    Shape("format %s", STRING, "'%s and %s'.format([{0:any}, {1:any}])", (Kind.SHORT, INTS)),
    Shape("format %s", STRING, "'%s'.format([{0:any}])", (STRINGS,)),
    Shape("format %d", STRING, "'%d%d'.format([{0:any}, {1:any}])", (INT, INDEX)),
    Shape("format %f", STRING, "'%f|%.2f'.format([{0:any}, {1:any}])", (DOUBLE, DOUBLE)),
    Shape("format %e", STRING, "'%e|%.3e'.format([{0:any}, {1:any}])", (DOUBLE, DOUBLE)),
    Shape("format %x", STRING, "'%x|%X'.format([{0:any}, {1:any}])", (INT, STRING)),
    Shape("format %o", STRING, "'%o'.format([{0:any}])", (INT,)),
    Shape("format %b", STRING, "'%b%b'.format([{0:any}, {1:any}])", (INT, BOOL)),
    Shape("format %d", STRING, "'%d %d'.format([{0:any}])", (INT,)),
    Shape("format %s", STRING, "'%y'.format([{0:any}])", (INT,)),
    Shape("format %s", STRING, "'100%'.format([{0:any}])", (INT,)),
)

_CONVERSIONS = (
    Shape("int from string", INT, "int({0:any})", (Kind.INT_TEXT,)),
    Shape("int from double", INT, "int({0:any})", (DOUBLE,)),
    Shape("int from int", INT, "int({0:any})", (INT,)),
    Shape("int from timestamp", INT, "int({0:any})", (TIMESTAMP,)),
    Shape("double from string", DOUBLE, "double({0:any})", (Kind.DOUBLE_TEXT,)),
    # Others would be compared with ints, where we are exact and Google rounds; test_corners.py has them.
    Shape("double from int", DOUBLE, "double({0:any})", (Kind.EXACT,)),
    Shape("double from double", DOUBLE, "double({0:any})", (DOUBLE,)),
    Shape("string from int", STRING, "string({0:any})", (INT,)),
    Shape("string from double", STRING, "string({0:any})", (Kind.SHORT,)),
    Shape("string from bool", STRING, "string({0:any})", (BOOL,)),
    Shape("string from string", STRING, "string({0:any})", (STRING,)),
    Shape("string from timestamp", STRING, "string({0:any})", (TIMESTAMP,)),
    Shape("string from duration", STRING, "string({0:any})", (DURATION,)),
    Shape("bool from string", BOOL, "bool({0:any})", (Kind.BOOL_TEXT,)),
    Shape("bool from bool", BOOL, "bool({0:any})", (BOOL,)),
    Shape("dyn", INT, "dyn({0:any})", (INT,)),
    Shape("dyn", ANY, "dyn({0:any})", (ANY,)),
    Shape("timestamp from string", TIMESTAMP, "timestamp({0:any})", (Kind.TIMESTAMP_TEXT,)),
    Shape("timestamp from int", TIMESTAMP, "timestamp({0:any})", (INDEX,)),
    Shape("timestamp from timestamp", TIMESTAMP, "timestamp({0:any})", (TIMESTAMP,)),
    Shape("duration from string", DURATION, "duration({0:any})", (Kind.DURATION_TEXT,)),
    Shape("duration from duration", DURATION, "duration({0:any})", (DURATION,)),
)

_CALENDAR = ("getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear")
_CLOCK = ("getHours", "getMinutes", "getSeconds", "getMilliseconds")

_TIMES = (
    *(Shape(f"{name} timestamp", INT, f"{{0:member}}.{name}()", (TIMESTAMP,)) for name in (*_CALENDAR, *_CLOCK)),
    *(
        Shape(f"{name} timestamp in a zone", INT, f"{{0:member}}.{name}({{1:any}})", (TIMESTAMP, Kind.ZONE))
        for name in (*_CALENDAR, *_CLOCK)
    ),
    *(Shape(f"{name} duration", INT, f"{{0:member}}.{name}()", (DURATION,)) for name in _CLOCK),
)

SHAPES: tuple[Shape, ...] = (
    *_ARITHMETIC,
    *_COMPARISON,
    *_LOGIC,
    *_AGGREGATES,
    *_MACROS,
    *_STRINGS,
    *_CONVERSIONS,
    *_TIMES,
)
