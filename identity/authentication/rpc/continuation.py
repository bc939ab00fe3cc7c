"""Continuation tokens of lists, which are opaque to callers."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error

from server.platform.errors import InvalidArgument

MOST_OF_A_PAGE = 1000


def token_of(last_id: str) -> str:
    return urlsafe_b64encode(last_id.encode()).decode().rstrip("=")


def id_of(token: str) -> str:
    """Raises InvalidArgument for a text that is not a continuation token."""
    try:
        return urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
    except (Error, ValueError) as error:
        raise InvalidArgument("continuation_token: expected that of a previous page") from error
