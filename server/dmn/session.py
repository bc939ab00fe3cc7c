"""The state of one evaluation, and the frames of its expressions.

`feel.limits` bounds each FEEL expression. The number of expressions, their total steps and the call depth are
bounded here. A budget from the caller replaces `MAX_STEPS`.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from server.dmn.results import DecisionFailure
from server.feel import Budget, EvaluationError, Ports, Value
from server.feel.types import ModelTypes

MAX_EXPRESSIONS: Final = 250_000
"""Most evaluations of expressions and unary tests in one decision evaluation."""

MAX_STEPS: Final = 10_000_000
"""Most steps of all expressions in one evaluation together."""

MAX_CALL_DEPTH: Final = 40
"""Deepest nesting of calls of knowledge models, decision services and boxed functions."""

MAX_FAILURES: Final = 100
"""Most failures that are recorded; later ones are dropped."""


class DecisionFailedError(EvaluationError):
    """The evaluation has no result; the error passes through FEEL's evaluation."""


class Session:
    """The state of one evaluation; `decision_id` is the decision being evaluated."""

    def __init__(self, ports: Ports) -> None:
        self.budget = Budget(MAX_STEPS) if ports.budget is None else ports.budget
        self._ports = ports._replace(budget=self.budget)
        self._typed_ports: dict[int, Ports] = {}
        self.decision_id = ""
        self.failures: list[DecisionFailure] = []
        self._expressions = 0
        self._depth = 0

    def ports(self, types: ModelTypes) -> Ports:
        """Return FEEL's ports with these types. Models keep their mapping, so its identity is the cache key."""
        if not types:
            return self._ports
        found = self._typed_ports.get(id(types))
        if found is None:
            found = self._typed_ports[id(types)] = self._ports._replace(types=types)
        return found

    def note(self, element_id: str, message: str) -> None:
        """Record the reason for a null value."""
        if len(self.failures) < MAX_FAILURES:
            self.failures.append(DecisionFailure(self.decision_id, element_id, message))

    def charge(self, expressions: int) -> None:
        self._expressions += expressions
        if self._expressions > MAX_EXPRESSIONS:
            raise DecisionFailedError(f"the evaluation takes more than {MAX_EXPRESSIONS} expressions")

    def call(self, body: Callable[[], Value]) -> Value:
        """Evaluate a function's body, within the maximum call depth."""
        self._depth += 1
        if self._depth > MAX_CALL_DEPTH:
            raise DecisionFailedError(f"functions nested deeper than {MAX_CALL_DEPTH} levels")
        try:
            return body()
        finally:
            self._depth -= 1


class Frame:
    """The scope of an expression: an immutable mapping of variables."""

    __slots__ = ("scope", "session")

    def __init__(self, scope: Mapping[str, Value], session: Session) -> None:
        self.scope = scope
        self.session = session

    def inner(self, names: Mapping[str, Value]) -> "Frame":
        return Frame({**self.scope, **names}, self.session)


Evaluate: TypeAlias = Callable[[Frame], Value]
