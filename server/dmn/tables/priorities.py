"""The priority of an output value: its position among the output values, highest first."""

from collections.abc import Callable
from typing import Final, TypeAlias

from server import feel
from server.dmn.boxed import UnaryTests
from server.dmn.errors import ProblemKind
from server.dmn.place import Place
from server.feel import Value

Rank: TypeAlias = Callable[[Value], int]

LOWEST: Final = 1 << 31
"""The rank of a value that is not among the output values."""


def unranked(_value: Value) -> int:
    """Return the lowest rank for every value, because there are no output values."""
    return LOWEST


def rank_among(values: UnaryTests, place: Place) -> Rank:
    """Return a rank function for the output values, which cannot depend on variables."""
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
