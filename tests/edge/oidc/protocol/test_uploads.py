"""The bound of uploads in memory."""

import pytest

from edge.oidc.access.refusal import Refused
from edge.oidc.access.upload import Uploads

TOO_MANY = 429


def is_let_in(uploads: Uploads, place: str) -> bool:
    try:
        with uploads.turn(place):
            return True
    except Refused as refused:
        return refused.status != TOO_MANY


def test_one_is_read_of_each_owner_at_a_time() -> None:
    uploads = Uploads()

    with uploads.turn("alice"):
        assert (is_let_in(uploads, "alice"), is_let_in(uploads, "bob")) == (False, True)

    assert is_let_in(uploads, "alice")


def test_few_are_read_in_all() -> None:
    uploads = Uploads(most=2)

    with uploads.turn("alice"), uploads.turn("bob"):
        assert not is_let_in(uploads, "carol")

    assert is_let_in(uploads, "carol")


def test_one_that_fails_makes_room() -> None:
    uploads = Uploads(most=1)

    with pytest.raises(ValueError, match="no image"), uploads.turn("alice"):
        raise ValueError("no image")

    assert is_let_in(uploads, "alice")
