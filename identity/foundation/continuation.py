"""Continuation tokens of lists, which are opaque to callers."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from collections.abc import Callable, Sequence
from typing import TypeVar

from server.platform.errors import InvalidArgument

MOST_OF_A_PAGE = 1000

T = TypeVar("T")


def token_of(last_id: str) -> str:
    return urlsafe_b64encode(last_id.encode()).decode().rstrip("=")


def page_of(found: Sequence[T], most: int, id_of_item: Callable[[T], str]) -> tuple[Sequence[T], str]:
    """Return a page and the token of the next one, empty if the page is the last; `found` has one item more than a page."""
    return found[:most], token_of(id_of_item(found[most - 1])) if len(found) > most else ""


def id_of(token: str) -> str:
    """Raises InvalidArgument for a text that is not a continuation token."""
    try:
        return urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
    except (Error, ValueError) as error:
        raise InvalidArgument("continuation_token: expected that of a previous page") from error
