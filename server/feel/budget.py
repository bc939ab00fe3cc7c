"""Steps that several evaluations may take together, besides the bound that each has for itself."""

from server.feel.errors import LimitExceededError


class Budget:
    """`left` are the steps that remain; the evaluation that asks for more ends with an error."""

    __slots__ = ("left",)

    def __init__(self, steps: int) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise LimitExceededError("the evaluations take more steps together than they may")
