"""The text of an event about a user's new e-mail address; addresses contain no space."""

_TO = " → "


def new_address(before: str, after: str) -> str:
    return f"{before}{_TO}{after}"


def address_before(text: str) -> str:
    """Return the previous address from the text."""
    return text.partition(_TO)[0]
