"""Which rules of a table match."""

from collections.abc import Iterator, Sequence

from server.dmn.session import Frame
from server.dmn.tables.index import Cell, Column
from server.feel import Value
from server.feel.types import ModelTypes


class Matcher:
    """`cells` has one row per rule."""

    def __init__(self, cells: Sequence[Sequence[Cell]], types: ModelTypes) -> None:
        self._all = (1 << len(cells)) - 1
        self._columns = [Column(column) for column in zip(*cells, strict=True)]
        self._tests = [[cell.tests for cell in row] for row in cells]
        self._types = types

    def matching(self, values: Sequence[Value], frame: Frame) -> Iterator[int]:
        """Give the positions of the rules, in their order; the further ones are looked for when asked."""
        candidates = self._all
        unsettled: list[tuple[int, int]] = []
        # A table without rules has no columns.
        for number, (column, value) in enumerate(zip(self._columns, values, strict=False)):
            certain, open_ = column.rules(value)
            candidates &= certain | open_
            if open_:
                unsettled.append((number, open_ & ~certain))
        while candidates:
            bit = candidates & -candidates
            candidates ^= bit
            rule = bit.bit_length() - 1
            asked = [number for number, open_ in unsettled if open_ & bit]
            if all(self._accepts(rule, number, values[number], frame) for number in asked):
                yield rule

    def _accepts(self, rule: int, column: int, value: Value, frame: Frame) -> bool:
        tests = self._tests[rule][column]
        if tests is None:
            return False
        frame.session.charge(1)
        return tests.evaluate(value, frame.scope, ports=frame.session.ports(self._types)).value is True
