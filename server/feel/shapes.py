"""Unary tests that differ only in constants, of which one is parsed for all.

The shape of a text is the text without its numbers and short strings. The parser never looks at their values,
so it takes the same path for all texts of a shape. Once several texts of a shape were parsed, further ones
are known to be valid, and the shape's code is instantiated with their constants.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from functools import lru_cache, partial
from itertools import chain, zip_longest
from operator import itemgetter
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from server.feel import compiler, decimals, nodes
from server.feel.constants import TEMPORAL_LITERALS
from server.feel.dialects import Dialect, DialectName
from server.feel.errors import FeelSyntaxError
from server.feel.generated.tests import Code, Template, template_of
from server.feel.limits import CHARACTERS_PER_STEP
from server.feel.names import Layout
from server.feel.parser import parse_unary_tests
from server.feel.values import Value, is_number

if TYPE_CHECKING:
    from server.feel.decimals import Number

SHARED_AFTER: Final = 8
"""Texts of a shape that are parsed before its code is generated, which takes about as long."""

_CACHED_SHAPES: Final = 1024
_MAX_LENGTH: Final = 1_000
_CONSTANT: Final = re.compile(
    r"""("[^"\\]*"|(?<![\w$])(?<!(?<!\.)\.)(?<!\.\.\.)[0-9]{1,15}(?:\.[0-9]{0,14}[1-9])?(?![\w$])(?!\.(?!\.)))""",
    re.ASCII,
)
_ELSEWHERE: Final = re.compile(r"[\\`@{]|//|/\*")
"""Text in which a number or quote may belong to an escape, name, comment, key or temporal value."""

_QUOTES: Final = 2


_Source: TypeAlias = Callable[[Sequence[Value]], object]
"""Returns a constant of the code from the constants of a text."""


@dataclass(frozen=True, slots=True)
class Similar:
    """A text whose shape has code; `variables` are read from the scope."""

    variables: frozenset[str]
    code: Code


class _Shape:
    def __init__(self) -> None:
        self.texts = 0
        self.shared: _Shared | None = None

    def count(self, pieces: Sequence[str], kinds: str, dialect: Dialect) -> None:
        self.texts += 1
        if self.texts == SHARED_AFTER:
            self.shared = _shared(pieces, kinds, dialect)


@dataclass(frozen=True, slots=True)
class _Shared:
    """The shared code of a shape; `constants` are either common to all texts or taken from each text."""

    variables: frozenset[str]
    template: Template
    constants: tuple[tuple[object, _Source | None], ...]

    def similar(self, values: Sequence[Value]) -> Similar:
        constants = [each if source is None else source(values) for each, source in self.constants]
        return Similar(self.variables, self.template.made(*constants))


def similar(text: str, dialect: Dialect) -> Similar | None:
    """Return the code of a text by its shape; None for a text that must be parsed, which also validates it."""
    if len(text) > _MAX_LENGTH or not text.isascii() or _ELSEWHERE.search(text):
        return None
    parts = _CONSTANT.split(text)
    pieces, constants = tuple(parts[::2]), parts[1::2]
    kinds = "".join(map(_kind, constants))
    if not kinds or "?" in kinds or any('"' in piece for piece in pieces):
        return None
    shape = _shape(pieces, kinds, dialect.name)
    if shape.shared is None:
        shape.count(pieces, kinds, dialect)
        return None
    return shape.shared.similar([*map(_value, constants)])


@lru_cache(_CACHED_SHAPES)
def _shape(_pieces: tuple[str, ...], _kinds: str, _dialect: DialectName) -> _Shape:
    return _Shape()


def _kind(constant: str) -> str:
    """Return the kind of a constant; `?` for a string long enough to cost steps."""
    if constant[0] == '"':
        return "s" if len(constant) - _QUOTES < CHARACTERS_PER_STEP else "?"
    return "d" if "." in constant else "i"


def _value(constant: str) -> Value:
    return constant[1:-1] if constant[0] == '"' else decimals.parse_number(constant)


def _shared(pieces: Sequence[str], kinds: str, dialect: Dialect) -> _Shared | None:
    """Generate the code with a marker for each constant, and find the markers among the code's constants."""
    marks = [_MARKS[kind](place) for place, kind in enumerate(kinds)]
    written = [f'"{mark}"' if isinstance(mark, str) else str(mark) for mark in marks]
    text = "".join(chain(*zip_longest(pieces, written, fillvalue="")))
    try:
        tests = parse_unary_tests(text, dialect=dialect)
    except FeelSyntaxError:
        return None
    parts = [*_parts(tests)]
    # A table's index finds constants, and dates in a text are parsed once.
    if not any(map(_is_open, parts)) or any(map(_is_temporal, parts)):
        return None
    template = template_of(tests, dialect)
    if template is None:
        return None
    layout = Layout(dialect)
    compiler.compile_unary_tests(tests, layout)
    sources: dict[object, _Source] = {}
    for place, mark in enumerate(marks):
        sources[mark] = itemgetter(place)
        if not isinstance(mark, str):
            sources[decimals.subtract(0, mark)] = partial(_negated, place)
    if any(is_number(each) and each not in sources for each in template.constants):
        # Some constants are computed from others, or from a number that is not a constant here.
        return None
    return _Shared(
        frozenset(layout.variables), template, tuple((each, sources.get(each)) for each in template.constants)
    )


def _negated(place: int, values: Sequence[Value]) -> Value:
    return decimals.subtract(0, cast("Number", values[place]))


def _parts(node: object) -> Iterator[object]:
    yield node
    if isinstance(node, tuple):
        inside: Iterable[object] = node
    else:
        inside = [getattr(node, each.name) for each in fields(node)] if is_dataclass(node) else ()
    for each in inside:
        yield from _parts(each)


def _is_open(node: object) -> bool:
    return isinstance(node, nodes.Name | nodes.InputValue)


def _is_temporal(node: object) -> bool:
    return isinstance(node, nodes.Call) and node.name in TEMPORAL_LITERALS


_MARKS: Final[Mapping[str, Callable[[int], int | Decimal | str]]] = {
    "i": lambda place: 900_000_000_000_007 + 1_234_567 * place,
    "d": lambda place: Decimal(f"{900_000_000_007 + 1_234_567 * place}.5"),
    "s": lambda place: f"!{place}!",
}
