"""Ports of an evaluation: time, chance, budget and stopwatch come from outside."""

from collections.abc import Callable
from datetime import datetime
from typing import Final, NamedTuple

from server.feel.budget import Budget
from server.feel.types import NO_TYPES, ModelTypes


class Ports(NamedTuple):
    """`now`, an aware time, is what `now()` and `today()` tell; its zone is the zone of both.

    `bits` makes that many random bits, for `uuid()` and `random number()`. A function without its port is
    null and a failure. `budget` bounds what this and other evaluations take together. `stopwatch` tells seconds, by which
    regular expressions are charged; without it they cost no more than their strings. `types` are those that a model defines, for `instance of` and typed parameters.
    """

    now: datetime | None = None
    bits: Callable[[int], int] | None = None
    budget: Budget | None = None
    stopwatch: Callable[[], float] | None = None
    types: ModelTypes = NO_TYPES


NO_PORTS: Final = Ports()
