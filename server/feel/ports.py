"""Ports of an evaluation: time, randomness, budget and stopwatch come from the caller."""

from collections.abc import Callable
from datetime import datetime
from typing import Final, NamedTuple

from server.feel.budget import Budget
from server.feel.types import NO_TYPES, ModelTypes


class Ports(NamedTuple):
    """The ports of an evaluation.

    - `now`: an aware datetime for `now()` and `today()`; its zone is theirs.
    - `bits`: returns a number of random bits, for `uuid()` and `random number()`.
    - `budget`: limits this and other evaluations together.
    - `stopwatch`: returns seconds, for charging regular expressions by time; without it they cost only their
      strings.
    - `types`: the model's types, for `instance of` and typed parameters.

    A function whose port is missing returns null with a failure.
    """

    now: datetime | None = None
    bits: Callable[[int], int] | None = None
    budget: Budget | None = None
    stopwatch: Callable[[], float] | None = None
    types: ModelTypes = NO_TYPES


NO_PORTS: Final = Ports()
