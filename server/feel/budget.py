"""A limit on the total steps of several evaluations, in addition to each evaluation's own limit."""

from server.feel.errors import LimitExceededError


class Budget:
    """The steps that remain; an evaluation that exceeds them raises LimitExceededError."""

    __slots__ = ("left",)

    def __init__(self, steps: int) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise LimitExceededError("the evaluations together take too many steps")
