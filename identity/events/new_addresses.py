"""The text of an event that tells of a person's new address; no address has a space."""

_TO = " → "


def new_address(before: str, after: str) -> str:
    return f"{before}{_TO}{after}"


def address_before(text: str) -> str:
    """Return the address that the text says the person had before."""
    return text.partition(_TO)[0]
