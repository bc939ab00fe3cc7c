"""Compiled texts, cached by text, which can be evaluated any number of times.

A text that is evaluated often gets generated Python code, which is faster and gives the same values, see
`generated`.
"""

from functools import lru_cache
from typing import Final

from server.feel import compiler, shapes
from server.feel.dialects import DIALECTS, Dialect, DialectName
from server.feel.errors import AssertionFailedError, EvaluationError, LimitExceededError
from server.feel.failures import Evaluation
from server.feel.generated.quick import Quick, generate
from server.feel.generated.tests import Code, generate_tests
from server.feel.limits import INNER_CHARACTERS_PER_STEP
from server.feel.names import Closure, Layout
from server.feel.nodes import Literal, Tests
from server.feel.parser import parse_expression, parse_unary_tests
from server.feel.ports import NO_PORTS, Ports
from server.feel.run import Run, Scope, measure
from server.feel.values import Value

NO_NAMES: Final[frozenset[str]] = frozenset()

_CACHED_TEXTS: Final = 4096

QUICK_AFTER: Final = 250
"""Evaluations before code is generated, which takes as long as some hundred evaluations."""

_DROPPED_AFTER: Final = 2_000
"""Evaluations by closures after which the code is dropped, because it gives up too often."""

_TRUE: Final = Evaluation(True)
_FALSE: Final = Evaluation(False)


class Expression:
    """A compiled expression; `variables` are the names that it reads from its scope. A literal is `constant`."""

    __slots__ = (
        "_closure",
        "_dialect",
        "_node",
        "_quick",
        "_slot_count",
        "_thorough",
        "constant",
        "text",
        "variables",
    )

    def __init__(self, text: str, names: frozenset[str], dialect: Dialect) -> None:
        node = parse_expression(text, names, dialect)
        layout = Layout(dialect)
        self.text = text
        self.constant = isinstance(node, Literal)
        self._dialect = dialect
        self._node = node
        self._quick: Quick | None = None
        self._thorough = 0
        self._closure = compiler.compile_expression(node, layout)
        self._slot_count = layout.slot_count
        self.variables = frozenset(layout.variables)

    def evaluate(self, scope: Scope, ports: Ports = NO_PORTS) -> Evaluation:
        """Evaluate the expression; raises EvaluationError if there is no result."""
        if ports.budget is None:
            if self._quick is not None and (found := self._quick(scope)) is not None:
                return found
            self._count()
        return _evaluation(self.text, self._closure, Run(scope, self._slot_count, self._dialect, ports))

    def _count(self) -> None:
        self._thorough += 1
        if self._thorough == QUICK_AFTER:
            self._quick = generate(self._node, self._dialect)
        elif self._thorough == _DROPPED_AFTER:
            self._quick = None


class UnaryTests:
    """Compiled unary tests, whose result is true, false or null; `variables` are read from the scope.

    Tests similar to earlier ones have code at once, and are parsed only when their tree or closures are
    needed.
    """

    __slots__ = (
        "_closure",
        "_dialect",
        "_names",
        "_node",
        "_similar",
        "_slot_count",
        "_variables",
        "text",
    )

    _closure: Closure
    _node: Tests
    _slot_count: int
    _variables: frozenset[str]

    def __init__(self, text: str, names: frozenset[str], dialect: Dialect) -> None:
        self.text = text
        self._names = names
        self._dialect = dialect
        self._similar = None if names else shapes.similar(text, dialect)
        self._slot_count = 0
        if self._similar is None:
            self._read()

    @property
    def is_similar(self) -> bool:
        """Whether the tests have code at once, because tests that differ only in constants were parsed before."""
        return self._similar is not None

    @property
    def node(self) -> Tests:
        """The syntax tree of the tests."""
        if not self._slot_count:
            self._read()
        return self._node

    @property
    def variables(self) -> frozenset[str]:
        return self._variables if self._similar is None else self._similar.variables

    def code(self) -> Code | None:
        """Return Python code that tests a value, or None if the tests contain a form without code generation."""
        if self._similar is not None:
            return self._similar.code
        return generate_tests(self.node, self._dialect)

    def evaluate(self, input_value: Value, scope: Scope, *, ports: Ports = NO_PORTS) -> Evaluation:
        """Evaluate the tests; raises EvaluationError if there is no result."""
        if not self._slot_count:
            self._read()
        run = Run(scope, self._slot_count, self._dialect, ports)
        run.slots[0] = input_value
        return _evaluation(self.text, self._closure, run)

    def _read(self) -> None:
        """Parse and compile the text. Slot 0 is the input's, so `_slot_count` is no longer 0 afterwards."""
        layout = Layout(self._dialect)
        self._node = parse_unary_tests(self.text, self._names, self._dialect)
        self._closure = compiler.compile_unary_tests(self._node, layout)
        self._variables = frozenset(layout.variables)
        self._slot_count = layout.slot_count


@lru_cache(_CACHED_TEXTS)
def compile_expression(
    text: str, *, names: frozenset[str] = NO_NAMES, dialect: DialectName = "camunda"
) -> Expression:
    """Compile an expression without its leading `=`; raises FeelSyntaxError."""
    return Expression(text, names, DIALECTS[dialect])


@lru_cache(_CACHED_TEXTS)
def compile_unary_tests(
    text: str, *, names: frozenset[str] = NO_NAMES, dialect: DialectName = "camunda"
) -> UnaryTests:
    """Compile unary tests; an empty text accepts every input. Raises FeelSyntaxError."""
    return UnaryTests(text, names, DIALECTS[dialect])


def _evaluation(text: str, closure: Closure, run: Run) -> Evaluation:
    try:
        value = closure(run)
        if type(value) is list or type(value) is dict:
            measure(run, value)
        elif type(value) is str and len(value) >= INNER_CHARACTERS_PER_STEP:
            run.charge(len(value) // INNER_CHARACTERS_PER_STEP)
    except AssertionFailedError as error:
        raise AssertionFailedError(
            f"Assertion failure on evaluate the expression '{text}': {error}"
        ) from error
    except ArithmeticError as error:
        raise EvaluationError(f"a number out of bounds in the expression '{text}'") from error
    except RecursionError as error:
        raise LimitExceededError("the evaluation nests too deep") from error
    if run.failures:
        return Evaluation(value, tuple(run.failures))
    if value is True:
        return _TRUE
    return _FALSE if value is False else Evaluation(value)
