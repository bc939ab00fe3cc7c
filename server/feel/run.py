"""The state of one evaluation: scope, failures and cost."""

from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from server.feel import limits
from server.feel.dialects import CAMUNDA, Dialect
from server.feel.errors import EvaluationError, LimitExceededError
from server.feel.failures import Failure, FailureType
from server.feel.ports import NO_PORTS, Ports
from server.feel.text import shown
from server.feel.values import Context, Missing, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_Container: TypeAlias = list[Value] | Context
_CONTAINERS = (list, dict)
SIZED: Final = frozenset({str, list, dict})
"""Types whose `cost` can be more than 0."""
_BITS_PER_DIGIT: Final = 3
_SHORT_NUMBER: Final = Decimal().__sizeof__()
"""Size in bytes of a Decimal of up to 34 digits; one parsed from JSON can be larger."""


class Scope(Protocol):
    """The lookup of root variables; a dict is one."""

    def get(self, name: str, default: Missing, /) -> Value | Missing: ...


class Run:
    """One evaluation; `slots` hold values bound by the expression: loop variables, context entries, filter items."""

    failures: list[Failure] | None = None
    steps = 0
    nesting = 0

    def __init__(
        self, scope: Scope, slot_count: int, dialect: Dialect = CAMUNDA, ports: Ports = NO_PORTS
    ) -> None:
        self.scope = scope
        self.dialect = dialect
        self.ports = ports
        self.slots: list[Value] = [None] * slot_count

    def fail(self, kind: FailureType, template: str, *values: Value, position: int | None = None) -> None:
        """Record the reason for a null value; the values are formatted as in FEEL."""
        if self.failures is None:
            self.failures = []
        if len(self.failures) < limits.MAX_FAILURES:
            message = template.format(*map(shown, values))
            self.failures.append(Failure(kind, message[: limits.MAX_MESSAGE_LENGTH], position))

    def refuse(self, template: str, *values: Value, position: int | None = None) -> None:
        """Record a failure, or raise EvaluationError if the dialect is strict."""
        if self.dialect.ends_without_result:
            raise EvaluationError(template.format(*map(shown, values)))
        self.fail(FailureType.INVALID_TYPE, template, *values, position=position)

    def charge(self, steps: int) -> None:
        self.steps += steps
        if self.steps > limits.MAX_STEPS:
            raise LimitExceededError(f"the evaluation takes more than {limits.MAX_STEPS} steps")
        if self.ports.budget is not None:
            self.ports.budget.spend(steps)

    @contextmanager
    def matching(self) -> "Iterator[None]":
        """Charge for the time of a regular expression."""
        stopwatch = self.ports.stopwatch
        if stopwatch is None:
            yield
            return
        began = stopwatch()
        yield
        self.charge(int((stopwatch() - began) * limits.STEPS_PER_SECOND))

    def inside(self, body: "Callable[[Run], Value]", scope: Scope, slots: list[Value], height: int) -> Value:
        """Evaluate the body of a function with the scope and slots of its definition; `height` is its nesting depth."""
        outside = self.scope, self.slots
        self.nesting += height
        if self.nesting > limits.MAX_CALL_NESTING:
            raise LimitExceededError(f"functions nested deeper than {limits.MAX_CALL_NESTING} levels")
        self.scope, self.slots = scope, slots
        try:
            return body(self)
        finally:
            self.scope, self.slots = outside
            self.nesting -= height


def cost(value: Value) -> int:
    """Return the steps for visiting a value, not including its content."""
    if isinstance(value, str):
        return len(value) // limits.CHARACTERS_PER_STEP
    return len(value) if isinstance(value, _CONTAINERS) else 0


def verbatim(text: str) -> str:
    """Escape a text for a failure's template."""
    return text.replace("{", "{{").replace("}", "}}")


def bounded_length(length: int) -> int:
    if length > limits.MAX_LIST_LENGTH:
        raise LimitExceededError(f"a list of more than {limits.MAX_LIST_LENGTH} items")
    return length


def bounded_string(text: str) -> str:
    if len(text) > limits.MAX_STRING_LENGTH:
        raise LimitExceededError(_TOO_LONG)
    return text


def joined(pieces: "Iterable[str]") -> str:
    """Join the pieces; raises LimitExceededError before the string becomes too long."""
    taken: list[str] = []
    length = 0
    for piece in pieces:
        length += len(piece)
        if length > limits.MAX_STRING_LENGTH:
            raise LimitExceededError(_TOO_LONG)
        taken.append(piece)
    return "".join(taken)


_TOO_LONG = f"a string of more than {limits.MAX_STRING_LENGTH} characters"


def measure(run: Run, *values: Value) -> None:
    """Charge for everything inside the values, and refuse values too deep for recursion.

    A value that occurs several times, such as one long string in a list, counts each time.
    """
    level: list[_Container] = [value for value in values if isinstance(value, _CONTAINERS)]
    depth = 0
    while level:
        depth += 1
        if depth > limits.MAX_VALUE_DEPTH:
            raise LimitExceededError(f"a value nested deeper than {limits.MAX_VALUE_DEPTH} levels")
        run.charge(sum(map(len, level)))
        inside = [inner for outer in level for inner in (outer.values() if type(outer) is dict else outer)]
        types = set(map(type, inside))
        steps = _characters(level, inside, types) // limits.INNER_CHARACTERS_PER_STEP
        if steps:
            run.charge(steps)
        if types.isdisjoint(_CONTAINERS):
            return
        level = [inner for inner in inside if type(inner) is list or type(inner) is dict]


def _characters(level: "list[_Container]", inside: "list[Value]", types: set[type]) -> int:
    """Return the characters of names and strings, and approximately of numbers; other values are short."""
    characters = sum([len(name) for outer in level if type(outer) is dict for name in outer])
    if str in types:
        characters += sum([len(inner) for inner in inside if type(inner) is str])
    if int in types:
        characters += sum([inner.bit_length() for inner in inside if type(inner) is int]) // _BITS_PER_DIGIT
    if Decimal in types:
        sizes = [inner.__sizeof__() - _SHORT_NUMBER for inner in inside if type(inner) is Decimal]
        characters += sum(sizes) * 8 // _BITS_PER_DIGIT
    return characters
