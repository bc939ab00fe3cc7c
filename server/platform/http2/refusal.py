"""Calls that the listener ends before or instead of their handler."""

import grpc


class Refusal(Exception):
    """The call is refused with this status."""

    def __init__(self, code: grpc.StatusCode, details: str) -> None:
        super().__init__(details)
        self.code, self.details = code, details
