"""Revision number of the data behind published documents, such as the JWKS.

A cached document is current if the number has not changed since before the document was made.
"""


class DocumentRevision:
    """The revision number; services advance it after they store a change and before they answer the request."""

    def __init__(self) -> None:
        self.number = 0

    def advance(self) -> None:
        self.number += 1
