"""The state of one evaluation, and the frames that expressions are evaluated in.

Limits: each FEEL expression is bounded by `feel.limits`, their number, their steps together and the depth of calls
are here. A budget that the caller gives takes the place of `MAX_STEPS`.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from server.dmn.results import DecisionFailure
from server.feel import Budget, EvaluationError, Ports, Value
from server.feel.types import ModelTypes

MAX_EXPRESSIONS: Final = 250_000
"""Expressions and unary tests that one evaluation may take, however often they stand in the model."""

MAX_STEPS: Final = 10_000_000
"""Steps of all expressions of one evaluation together."""

MAX_CALL_DEPTH: Final = 40
"""Knowledge models, decision services and boxed functions that are being called inside each other."""

MAX_FAILURES: Final = 100
"""Failures kept; what fails after them is null without a word."""


class DecisionFailedError(EvaluationError):
    """There is no result at all; it passes through FEEL's own evaluation."""


class Session:
    """`ports` are FEEL's, `budget` is theirs; `decision_id` is the decision that is being evaluated."""

    def __init__(self, ports: Ports) -> None:
        self.budget = Budget(MAX_STEPS) if ports.budget is None else ports.budget
        self._ports = ports._replace(budget=self.budget)
        self._typed_ports: dict[int, Ports] = {}
        self.decision_id = ""
        self.failures: list[DecisionFailure] = []
        self._expressions = 0
        self._depth = 0

    def ports(self, types: ModelTypes) -> Ports:
        """FEEL's ports where these types are known; a mapping is known by its identity, and kept by its model."""
        if not types:
            return self._ports
        found = self._typed_ports.get(id(types))
        if found is None:
            found = self._typed_ports[id(types)] = self._ports._replace(types=types)
        return found

    def note(self, element_id: str, message: str) -> None:
        """Remember why something became null."""
        if len(self.failures) < MAX_FAILURES:
            self.failures.append(DecisionFailure(self.decision_id, element_id, message))

    def charge(self, expressions: int) -> None:
        self._expressions += expressions
        if self._expressions > MAX_EXPRESSIONS:
            raise DecisionFailedError(f"the evaluation takes more than {MAX_EXPRESSIONS} expressions")

    def call(self, body: Callable[[], Value]) -> Value:
        """Evaluate the body of a function."""
        self._depth += 1
        if self._depth > MAX_CALL_DEPTH:
            raise DecisionFailedError(f"functions nested deeper than {MAX_CALL_DEPTH} levels")
        try:
            return body()
        finally:
            self._depth -= 1


class Frame:
    """The scope of an expression: variables by their names, never changed in place."""

    __slots__ = ("scope", "session")

    def __init__(self, scope: Mapping[str, Value], session: Session) -> None:
        self.scope = scope
        self.session = session

    def inner(self, names: Mapping[str, Value]) -> "Frame":
        return Frame({**self.scope, **names}, self.session)


Evaluate: TypeAlias = Callable[[Frame], Value]
