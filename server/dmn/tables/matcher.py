"""Which rules of a table match.

The index of each column finds constants. Other cells get generated code, a few of them at each evaluation; FEEL
evaluates a cell that has no code, or whose code gives up, with the same result.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias

from server import feel
from server.dmn.session import Frame
from server.dmn.tables.index import Cell, Column
from server.feel import Value
from server.feel.types import ModelTypes

if TYPE_CHECKING:
    from server.feel.generated.tests import Code

CODE_AFTER: Final = 3
"""Evaluations of a table without code: many tables are evaluated once."""

CODE_A_TIME: Final = 100
"""Texts that get code at one evaluation, which takes a few milliseconds more then."""

_DENSE: Final = 8
"""One rule in so many, or more, is looked at: then they are counted in a text."""


class _Open:
    """A text in a column that the index does not know, and its code when it has some.

    `latest` is an evaluation and its result, where that took no steps: rules repeat conditions.
    It is one object because threads evaluate the same table at the same time.
    """

    __slots__ = ("code", "latest", "tests")

    def __init__(self, tests: feel.UnaryTests) -> None:
        self.tests = tests
        self.code: Code | None = None
        self.latest: tuple[object, Value] = (None, None)

    def value(self, value: Value, frame: Frame, types: ModelTypes) -> Value:
        frame.session.charge(1)
        return self.tests.evaluate(value, frame.scope, ports=frame.session.ports(types)).value


_Row: TypeAlias = list[tuple[int, _Open]]


class Matcher:
    """`cells` has one row per rule."""

    def __init__(self, cells: Sequence[Sequence[Cell]], types: ModelTypes) -> None:
        self._all = (1 << len(cells)) - 1
        self._columns = [Column(column) for column in zip(*cells, strict=True)]
        self._types = types
        known = {
            (number, tests): _Open(tests)
            for row in cells
            for number, (_, tests) in enumerate(row)
            if tests is not None
        }
        self._cells = [
            [None if tests is None else known[number, tests] for number, (_, tests) in enumerate(row)]
            for row in cells
        ]
        self._rows: list[_Row] = [
            [
                (number, known[number, tests])
                for number, (spans, tests) in enumerate(row)
                if spans is None and tests is not None
            ]
            for row in cells
        ]
        self._without_code = iter([*dict.fromkeys(cell for row in self._rows for _, cell in row)])
        self._evaluations = 0

    def matching(self, values: Sequence[Value], frame: Frame) -> Iterator[int]:
        """Give the positions of the rules, in their order; the further ones are looked for when asked."""
        candidates, is_usual = self._all, True
        unsettled: list[tuple[int, int]] = []
        # A table without rules has no columns.
        for number, (column, value) in enumerate(zip(self._columns, values, strict=False)):
            certain, open_ = column.rules(value)
            candidates &= certain | open_
            is_usual = is_usual and open_ == column.open
            if open_:
                unsettled.append((number, open_ & ~certain))
        if not unsettled:
            return _positions(candidates)
        return (
            self._usual(candidates, values, frame)
            if is_usual
            else self._unusual(candidates, unsettled, values, frame)
        )

    def _usual(self, candidates: int, values: Sequence[Value], frame: Frame) -> Iterator[int]:
        """Ask the open cells alone."""
        self._make_code()
        session, get, asked = frame.session, frame.scope.get, 0
        budget, rows, evaluation = session.budget, self._rows, object()
        for rule in _positions(candidates):
            for column, cell in rows[rule]:
                asked += 1
                latest, result = cell.latest
                if latest is not evaluation:
                    left = budget.left
                    result = None if cell.code is None else cell.code(get, values[column], budget)
                    if budget.left == left:
                        cell.latest = (evaluation, result)
                if result is None:
                    session.charge(asked - 1)
                    asked = 0
                    result = cell.value(values[column], frame, self._types)
                if result is not True:
                    break
            else:
                session.charge(asked)
                asked = 0
                yield rule
        session.charge(asked)

    def _unusual(
        self, candidates: int, unsettled: Sequence[tuple[int, int]], values: Sequence[Value], frame: Frame
    ) -> Iterator[int]:
        """Ask cells of constants too: a value is of a kind that the index does not know."""
        for rule in _positions(candidates):
            asked = [number for number, open_ in unsettled if open_ >> rule & 1]
            cells = [(self._cells[rule][number], values[number]) for number in asked]
            if all(cell and cell.value(value, frame, self._types) is True for cell, value in cells):
                yield rule

    def _make_code(self) -> None:
        self._evaluations += 1
        if self._evaluations > CODE_AFTER:
            for cell in islice(self._without_code, CODE_A_TIME):
                cell.code = cell.tests.code()


def _positions(bits: int) -> Iterator[int]:
    """The places of the bits, the lowest first."""
    if bits.bit_count() * _DENSE > bits.bit_length():
        text = f"{bits:b}"[::-1]
        position = text.find("1")
        while position >= 0:
            yield position
            position = text.find("1", position + 1)
        return
    while bits:
        bit = bits & -bits
        bits ^= bit
        yield bit.bit_length() - 1
