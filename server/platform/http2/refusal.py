"""A call that is ended by the listener, before or instead of its handler."""

import grpc


class Refusal(Exception):
    """The status that the client gets."""

    def __init__(self, code: grpc.StatusCode, details: str) -> None:
        super().__init__(details)
        self.code, self.details = code, details
