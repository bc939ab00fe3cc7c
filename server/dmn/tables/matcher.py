"""Finds the matching rules of a table.

The index of each column finds constants. Other cells get generated code, a few at each evaluation. FEEL
evaluates cells without code, or whose code gives up, with the same result. If all matching rules are needed,
a condition that several rules share is evaluated once.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias

from server import feel
from server.dmn.session import Frame
from server.dmn.tables.index import Cell, Column, rule_set
from server.feel import Value
from server.feel.types import ModelTypes

if TYPE_CHECKING:
    from server.feel.generated.tests import Code

CODE_AFTER: Final = 3
"""Evaluations of a table before code is generated, because many tables are evaluated once."""

CODE_A_TIME: Final = 100
"""Most texts that get code in one evaluation; it takes a few milliseconds longer."""

_DENSE: Final = 8
"""At this density of set bits or a higher one, scanning a binary text is faster."""


_SHARED: Final = 4
"""Fewest rules with the same condition for which their set is stored."""

_MAX_SETS: Final = 1_000
"""Most stored sets of rules per column, which limits them to some hundred bytes per rule."""


class _Open:
    """A cell text that the index does not cover, with its generated code if present.

    `latest` caches an evaluation, its result and its steps, because rules repeat conditions. It is one object
    because threads can evaluate the same table concurrently.
    """

    __slots__ = ("code", "latest", "tests")

    def __init__(self, tests: feel.UnaryTests) -> None:
        self.tests = tests
        self.code: Code | None = tests.code() if tests.is_similar else None
        self.latest: tuple[object, Value, int] = (None, None, 0)

    def value(self, value: Value, frame: Frame, types: ModelTypes) -> Value:
        frame.session.charge(1)
        return self.tests.evaluate(value, frame.scope, ports=frame.session.ports(types)).value


_Row: TypeAlias = list[tuple[int, _Open]]


class _OpenColumn:
    """The open cells of one column, by rule."""

    def __init__(self, number: int, cells: Mapping[int, _Open], rule_count: int) -> None:
        self.number = number
        self._cells = cells
        rules: defaultdict[_Open, list[int]] = defaultdict(list)
        for rule, cell in cells.items():
            rules[cell].append(rule)
        enough = max(_SHARED, rule_count // _MAX_SETS)
        self._shared = [(cell, rule_set(having)) for cell, having in rules.items() if len(having) >= enough]
        self._alone = rule_set(rule for having in rules.values() if len(having) < enough for rule in having)

    def matching(self, among: int, value: Value, frame: Frame, types: ModelTypes) -> int:
        """Return the rules whose cell accepts the value or that have no open cell."""
        refused, without_code = self._refused_together(among, value, frame)
        return among ^ refused ^ self._refused_alone(self._alone & among | without_code, value, frame, types)

    def _refused_together(self, among: int, value: Value, frame: Frame) -> tuple[int, int]:
        """Return the rules whose shared cell refuses the value, and those whose shared cell has no code for it."""
        session, get, budget = frame.session, frame.scope.get, frame.session.budget
        asked = refused = without_code = 0
        for cell, having in self._shared:
            rules = having & among
            if not rules:
                continue
            before = budget.left
            result = None if cell.code is None else cell.code(get, value, budget)
            if result is None:
                without_code |= rules
                continue
            count = rules.bit_count()
            asked += count
            if budget.left != before:
                budget.spend((before - budget.left) * (count - 1))
            if not result:
                refused |= rules
        session.charge(asked)
        return refused, without_code

    def _refused_alone(self, among: int, value: Value, frame: Frame, types: ModelTypes) -> int:
        get, budget, cells = frame.scope.get, frame.session.budget, self._cells
        asked, refused = 0, []
        for rule in _positions(among):
            cell = cells[rule]
            result: Value = None if cell.code is None else cell.code(get, value, budget)
            if result is None:
                result = cell.value(value, frame, types)
            else:
                asked += 1
            if result is not True:
                refused.append(rule)
        frame.session.charge(asked)
        return rule_set(refused)


class Matcher:
    """Finds the matching rules; `cells` has one row per rule."""

    def __init__(self, cells: Sequence[Sequence[Cell]], types: ModelTypes) -> None:
        self._all = (1 << len(cells)) - 1
        columns = [*zip(*cells, strict=True)]
        self._columns = [*map(Column, columns)]
        self._types = types
        self._cells = [*map(_with_tests, columns)]
        self._rows: list[_Row] = [[] for _ in cells]
        for number, (column, with_tests) in enumerate(zip(columns, self._cells, strict=True)):
            for rule, cell in with_tests.items():
                if column[rule].spans is None:
                    self._rows[rule].append((number, cell))
        self._open_columns = _open_columns(self._rows)
        self._without_code = iter(
            [*dict.fromkeys(cell for row in self._rows for _, cell in row if cell.code is None)]
        )
        self._evaluations = 0

    def matching(self, values: Sequence[Value], frame: Frame, most: int | None = None) -> Iterator[int]:
        """Yield the positions of matching rules in order, at most `most` of them."""
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
            found = _positions(candidates)
        elif not is_usual:
            found = self._unusual(candidates, unsettled, values, frame)
        elif most is None:
            found = _positions(self._by_column(candidates, values, frame))
        else:
            found = self._by_rule(candidates, values, frame)
        return islice(found, most)

    def _by_column(self, candidates: int, values: Sequence[Value], frame: Frame) -> int:
        """Return the matching rules; each column checks the rules that the previous columns left."""
        self._make_code()
        left = candidates
        for column in self._open_columns:
            left = column.matching(left, values[column.number], frame, self._types)
        return left

    def _by_rule(self, candidates: int, values: Sequence[Value], frame: Frame) -> Iterator[int]:
        """Yield the matching rules, checking the open cells of one rule after the other."""
        self._make_code()
        session, get, asked = frame.session, frame.scope.get, 0
        budget, rows, evaluation = session.budget, self._rows, object()
        for rule in _positions(candidates):
            for column, cell in rows[rule]:
                asked += 1
                latest, result, steps = cell.latest
                left = budget.left
                if latest is evaluation and steps <= left:
                    budget.left = left - steps
                else:
                    result = None if cell.code is None else cell.code(get, values[column], budget)
                    cell.latest = (evaluation, result, left - budget.left)
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
        """Yield the matching rules for a value of a kind that the index does not know, so constants are evaluated too."""
        for rule in _positions(candidates):
            asked = [number for number, open_ in unsettled if open_ >> rule & 1]
            cells = [(self._cells[number].get(rule), values[number]) for number in asked]
            if all(cell and cell.value(value, frame, self._types) is True for cell, value in cells):
                yield rule

    def _make_code(self) -> None:
        self._evaluations += 1
        if self._evaluations > CODE_AFTER:
            for cell in islice(self._without_code, CODE_A_TIME):
                cell.code = cell.tests.code()


def _with_tests(column: Sequence[Cell]) -> dict[int, _Open]:
    """Return the cells of a column with tests, by rule; equal tests share one cell."""
    known: dict[feel.UnaryTests, _Open] = {}
    cells: dict[int, _Open] = {}
    for rule, each in enumerate(column):
        tests = each.tests
        if tests is not None:
            cell = known.get(tests)
            if cell is None:
                cell = known[tests] = _Open(tests)
            cells[rule] = cell
    return cells


def _open_columns(rows: Sequence[_Row]) -> list[_OpenColumn]:
    columns: defaultdict[int, dict[int, _Open]] = defaultdict(dict)
    for rule, row in enumerate(rows):
        for number, cell in row:
            columns[number][rule] = cell
    return [_OpenColumn(number, cells, len(rows)) for number, cells in sorted(columns.items())]


def _positions(bits: int) -> Iterator[int]:
    """Yield the positions of the set bits, lowest first."""
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
