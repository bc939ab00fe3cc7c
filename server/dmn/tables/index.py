"""Find the rules that accept an input, in the time of a binary search.

The cells of a column cut the values of a kind into segments, and each segment has a set of rules, the bits of a number.
A column keeps the sets of all segments, or of every few where they would be large, and the rules that come and go in
between. Cells that are no spans of constants stay open: FEEL decides about them.
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
"""Bits of all sets of one column and kind that are kept, a mebibyte."""

_Placed: TypeAlias = tuple[int, Span]


class Cell(msgspec.Struct, frozen=True, gc=False):
    """No span at all accepts everything, None leaves the cell to FEEL.

    Without tests the spans say all: a value of a kind that has no spans is accepted by none.
    """

    spans: tuple[Span, ...] | None
    tests: feel.UnaryTests | None = None


class Column:
    """One cell per rule; `open` are those of which FEEL is always asked."""

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
        """The rules whose cell accepts the value for certain, and those of which FEEL must be asked."""
        kind = KINDS.get(type(value))
        if kind is None:
            return self._certain, self._with_tests & ~self._certain
        segments = self._segments.get(kind)
        return (self._certain if segments is None else segments.rules(value)), self.open


class _Segments:
    """Those between the cuts of one kind. `always` are rules in the sets of all of them."""

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
    """Set the bits of these rules; each may be named again."""
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
    """For each segment the rules that are in its set or in that of the one before, but not in both."""
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
    """Join what overlaps of one rule, whose segments follow each other; what holds no segment is left out."""
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
