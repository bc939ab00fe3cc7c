"""Results of a decision table: one function per hit policy (DMN 1.5 §8.2.10, §8.2.11)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from server import feel
from server.dmn.boxed import Aggregation, HitPolicy
from server.feel import DialectName, Value
from server.feel.text import shown


class ViolationError(Exception):
    """The matching rules violate the hit policy."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A matching rule: its value, and its outputs' ranks by priority."""

    value: Value
    ranks: tuple[int, ...]


Combine: TypeAlias = Callable[[Sequence[Hit]], Value]
"""Combines at least one hit into the value of a table."""


def combination(policy: HitPolicy, aggregation: Aggregation | None, dialect: DialectName) -> Combine:
    if policy is HitPolicy.ANY:
        return _any(dialect)
    if policy is not HitPolicy.COLLECT or aggregation is None:
        return _COMBINATIONS[policy]
    return _aggregation(aggregation, dialect)


def _unique(hits: Sequence[Hit]) -> Value:
    if len(hits) > 1:
        raise ViolationError(
            f"multiple values aren't allowed for UNIQUE hit policy. found: '{shown(_all(hits))}'"
        )
    return hits[0].value


def _any(dialect: DialectName) -> Combine:
    same = feel.compile_expression("one = other", dialect=dialect)

    def any_(hits: Sequence[Hit]) -> Value:
        value = hits[0].value
        pairs: Iterator[dict[str, Value]] = ({"one": value, "other": hit.value} for hit in hits[1:])
        if any(same.evaluate(pair).value is not True for pair in pairs):
            raise ViolationError(
                f"different values aren't allowed for ANY hit policy. found: '{shown(_all(hits))}'"
            )
        return value

    return any_


def _first(hits: Sequence[Hit]) -> Value:
    return hits[0].value


def _all(hits: Sequence[Hit]) -> list[Value]:
    return [hit.value for hit in hits]


def _highest(hits: Sequence[Hit]) -> Value:
    return min(hits, key=lambda hit: hit.ranks).value


def _ordered(hits: Sequence[Hit]) -> Value:
    return [hit.value for hit in sorted(hits, key=lambda hit: hit.ranks)]


_COMBINATIONS: Final[Mapping[HitPolicy, Combine]] = {
    HitPolicy.UNIQUE: _unique,
    HitPolicy.FIRST: _first,
    HitPolicy.PRIORITY: _highest,
    HitPolicy.COLLECT: _all,
    HitPolicy.RULE_ORDER: _all,
    HitPolicy.OUTPUT_ORDER: _ordered,
}


def _aggregation(aggregation: Aggregation, dialect: DialectName) -> Combine:
    aggregate = feel.compile_expression(f"{aggregation.lower()}(values)", dialect=dialect)

    def aggregated(hits: Sequence[Hit]) -> Value:
        values: dict[str, Value] = {"values": _all(hits)}
        evaluation = aggregate.evaluate(values)
        if evaluation.failures:
            raise ViolationError(evaluation.failures[0].message)
        return evaluation.value

    return aggregated
