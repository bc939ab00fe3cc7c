"""Number of the changes of this process that published documents depend on.

A copy of a document is current while the number is the one from before the copy was made.
"""


class DocumentRevision:
    """Services advance it after a change is stored and before they answer the request for it."""

    def __init__(self) -> None:
        self.number = 0

    def advance(self) -> None:
        self.number += 1
