"""Rejections of commands that the current state does not allow, raised before anything changes."""

from enum import StrEnum


class RejectionType(StrEnum):
    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    NOT_FOUND = "NOT_FOUND"
    INVALID_STATE = "INVALID_STATE"
    ALREADY_EXISTS = "ALREADY_EXISTS"
    EXHAUSTED = "EXHAUSTED"
    BUSY = "BUSY"


class Rejected(Exception):
    """A command was rejected; the reason has what was expected and what was found."""

    def __init__(self, type_: RejectionType, reason: str) -> None:
        super().__init__(reason)
        self.type = type_
        self.reason = reason
