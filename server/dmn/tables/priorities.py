"""The priority of an output's value: its place among the output values, the first is the highest."""

from collections.abc import Callable
from typing import Final, TypeAlias

from server import feel
from server.dmn.boxed import UnaryTests
from server.dmn.errors import ProblemKind
from server.dmn.place import Place
from server.feel import Value

Rank: TypeAlias = Callable[[Value], int]

LOWEST: Final = 1 << 31
"""The rank of a value that is not among them."""


def unranked(_value: Value) -> int:
    """Without output values all are alike."""
    return LOWEST


def rank_among(values: UnaryTests, place: Place) -> Rank:
    """Take each of the tests for itself; what they say is independent of all variables."""
    try:
        alternatives = feel.compile_expression(
            f"[{values.text}]", names=place.names.within(values.text), dialect=place.dialect.name
        ).evaluate({})
    except feel.FeelError:
        place.problem(
            values,
            ProblemKind.UNARY_TESTS,
            f"expected values in the order of priority, found '{values.text}'",
        )
        return unranked
    accepts = feel.compile_expression("value in (alternative)", dialect=place.dialect.name)
    listed = alternatives.value if isinstance(alternatives.value, list) else []

    def rank(value: Value) -> int:
        for position, alternative in enumerate(listed):
            pair: dict[str, Value] = {"value": value, "alternative": alternative}
            if accepts.evaluate(pair).value is True:
                return position
        return LOWEST

    return rank
