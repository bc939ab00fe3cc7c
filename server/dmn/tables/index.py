"""An index that finds the rules accepting an input by binary search.

The cells of a column divide the values of a kind into segments, each with a set of rules (the bits of an
integer). A column stores the sets of all segments or, if they would be large, of every nth segment and the
changes in between. Cells that are not spans of constants stay open, and FEEL evaluates them.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, TypeAlias

import msgspec

from server import feel
from server.dmn.tables.cells import KINDS, Cut, Span
from server.feel import Value

MAX_SET_BITS: Final = 2**23
"""Most bits of all stored sets of one column and kind: one mebibyte."""

_Placed: TypeAlias = tuple[int, Span]


class Cell(msgspec.Struct, frozen=True, gc=False):
    """A cell; empty `spans` accept everything, and None means that FEEL evaluates the cell.

    Without tests the spans are exhaustive: a value of a kind without spans is not accepted.
    """

    spans: tuple[Span, ...] | None
    tests: feel.UnaryTests | None = None


class Column:
    """A column with one cell per rule; `open` is the set of rules whose cells FEEL always evaluates."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._certain = rule_set(rule for rule, cell in enumerate(cells) if cell.spans == ())
        self.open = rule_set(
            rule for rule, cell in enumerate(cells) if cell.spans is None and cell.tests is not None
        )
        self._with_tests = rule_set(rule for rule, cell in enumerate(cells) if cell.tests is not None)
        self._segments = {
            kind: _Segments(spans, len(cells), self._certain) for kind, spans in _by_kind(cells).items()
        }

    def rules(self, value: Value) -> tuple[int, int]:
        """Return the rules whose cell certainly accepts the value, and those whose cell FEEL must evaluate."""
        kind = KINDS.get(type(value))
        if kind is None:
            return self._certain, self._with_tests & ~self._certain
        segments = self._segments.get(kind)
        return (self._certain if segments is None else segments.rules(value)), self.open


class _Segments:
    """The segments of one kind; the rules `always` are in the sets of all segments."""

    def __init__(self, spans: Sequence[_Placed], rule_count: int, always: int) -> None:
        self._cuts = sorted({cut for _, span in spans for cut in (span.start, span.end) if cut is not None})
        changes = _changes(self._cuts, spans)
        self._stride = len(self._cuts) * rule_count // MAX_SET_BITS + 1
        self._changes = changes if self._stride > 1 else []
        self._sets = list(islice(_sets(changes, always), None, None, self._stride))

    def rules(self, value: Value) -> int:
        segment = bisect_right(self._cuts, (value, 0))
        if self._stride == 1:
            return self._sets[segment]
        kept, more = divmod(segment, self._stride)
        rules = self._sets[kept]
        for changed in self._changes[segment - more + 1 : segment + 1]:
            for rule in changed:
                rules ^= 1 << rule
        return rules


def rule_set(rules: Iterable[int]) -> int:
    """Return the set of these rules; duplicates are allowed."""
    octets = bytearray()
    for rule in rules:
        place = rule >> 3
        if place >= len(octets):
            octets.extend(bytes(place + 1 - len(octets)))
        octets[place] |= 1 << (rule & 7)
    return int.from_bytes(octets, "little")


def _by_kind(cells: Sequence[Cell]) -> dict[type, list[_Placed]]:
    groups: defaultdict[type, list[_Placed]] = defaultdict(list)
    for rule, cell in enumerate(cells):
        for span in cell.spans or ():
            groups[span.kind].append((rule, span))
    return groups


def _changes(cuts: Sequence[Cut], spans: Sequence[_Placed]) -> list[tuple[int, ...]]:
    """Return for each segment the rules by which its set differs from the previous segment's."""
    first_of: dict[Cut | None, int] = {cut: segment for segment, cut in enumerate(cuts, 1)}
    end, changes = len(cuts) + 1, defaultdict[int, list[int]](list)
    placed = [
        (
            rule,
            0 if span.start is None else first_of[span.start],
            end if span.end is None else first_of[span.end],
        )
        for rule, span in spans
    ]
    has_each_once = len({rule for rule, _ in spans}) == len(spans)
    for rule, begin, after in placed if has_each_once else _disjoint(placed):
        if begin < after:
            changes[begin].append(rule)
            changes[after].append(rule)
    return [tuple(changes.get(segment, ())) for segment in range(end)]


def _disjoint(placed: Iterable[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """Merge overlapping intervals of a rule, whose intervals are consecutive; empty intervals are dropped."""
    last: list[tuple[int, int]] = []
    last_rule = -1
    for rule, begin, after in placed:
        if rule != last_rule:
            for each in _joined(last):
                yield last_rule, *each
            last, last_rule = [], rule
        if begin < after:
            last.append((begin, after))
    for each in _joined(last):
        yield last_rule, *each


def _joined(intervals: list[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    if len(intervals) < 2:  # noqa: PLR2004  # nearly all
        return intervals
    joined: list[tuple[int, int]] = []
    for begin, after in sorted(intervals):
        if joined and begin <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(after, joined[-1][1])
        else:
            joined.append((begin, after))
    return joined


def _sets(changes: Iterable[Iterable[int]], always: int) -> Iterator[int]:
    rules = always
    for changed in changes:
        for rule in changed:
            rules ^= 1 << rule
        yield rules
