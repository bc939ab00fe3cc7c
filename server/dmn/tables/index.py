"""Find the rules that accept an input, in the time of a binary search.

The cells of a column cut the values of a kind into segments; every segment has the set of its rules ready, as
the bits of a number. Cells that are no spans of constants stay open: FEEL decides about them.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from server.dmn.tables.cells import KINDS, Cut, Span
from server.feel import Value

MAX_INDEX_BITS: Final = 2**27
"""Segments times rules of one column and kind, 16 MiB; with more these cells stay open."""

Cell: TypeAlias = tuple[Span, ...] | None
"""No span at all accepts everything; None is left to FEEL."""

_Placed: TypeAlias = tuple[int, Span]
_Segments: TypeAlias = tuple[list[Cut], list[int]]


class Column:
    """One cell per rule."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._all = (1 << len(cells)) - 1
        self._certain = rule_set(rule for rule, cell in enumerate(cells) if cell == ())
        self._open = rule_set(rule for rule, cell in enumerate(cells) if cell is None)
        self._segments: dict[type, _Segments] = {}
        for kind, spans in _by_kind(cells).items():
            cuts = sorted({cut for _, span in spans for cut in (span.start, span.end) if cut is not None})
            if len(cuts) * len(cells) > MAX_INDEX_BITS:
                self._open |= rule_set(rule for rule, _ in spans)
            else:
                self._segments[kind] = cuts, _rules_per_segment(cuts, spans)

    def rules(self, value: Value) -> tuple[int, int]:
        """The rules whose cell accepts the value for certain, and those of which FEEL must be asked."""
        kind = KINDS.get(type(value))
        if kind is None:
            return self._certain, self._all & ~self._certain
        if kind not in self._segments:
            return self._certain, self._open
        cuts, rules = self._segments[kind]
        return self._certain | rules[bisect_right(cuts, (value, 0))], self._open


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
        for span in cell or ():
            groups[span.kind].append((rule, span))
    return groups


def _rules_per_segment(cuts: Sequence[Cut], spans: Sequence[_Placed]) -> list[int]:
    """Sweep over the segments; several spans of a rule may overlap, so their ends are counted."""
    begins: defaultdict[int, list[int]] = defaultdict(list)
    ends: defaultdict[int, list[int]] = defaultdict(list)
    for rule, span in spans:
        first = 0 if span.start is None else bisect_left(cuts, span.start) + 1
        after = len(cuts) + 1 if span.end is None else bisect_left(cuts, span.end) + 1
        if first < after:
            begins[first].append(rule)
            ends[after].append(rule)
    counts: defaultdict[int, int] = defaultdict(int)
    rules, result = 0, []
    for segment in range(len(cuts) + 1):
        for rule in begins[segment]:
            counts[rule] += 1
        for rule in ends[segment]:
            counts[rule] -= 1
        changed = {*begins[segment], *ends[segment]}
        gone = rule_set(rule for rule in changed if not counts[rule])
        rules = (rules | rule_set(changed)) & ~gone
        result.append(rules)
    return result
