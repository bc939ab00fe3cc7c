"""Properties of the authorization endpoint for arbitrary input."""

import re

from hypothesis import given
from hypothesis import strategies as st

from identity.authentication.requests.login_hint import login_hint
from identity.authentication.requests.redirect_uris import is_registered
from identity.authentication.requests.redirection import ResponseTarget
from identity.authentication.requests.request import ResponseMode
from identity.foundation.errors import InvalidRequest
from tests.identity.browsers import CALLBACK, ISSUER

LOOPBACK = "http://127.0.0.1:8000/cb"


@given(st.text() | st.from_regex(r"https?://[a-z.:@/\[\]0-9?#]{0,30}", fullmatch=True))
def test_only_what_is_registered_is_redirected_to(uri: str) -> None:
    assert is_registered(uri, (CALLBACK,)) == (uri == CALLBACK)


@given(st.text(max_size=30))
def test_nothing_but_a_port_comes_between_a_loopback_address_and_its_path(between: str) -> None:
    is_port = between == "" or re.fullmatch(r":[0-9]{1,5}", between, re.ASCII) is not None

    assert is_registered(f"http://127.0.0.1{between}/cb", (LOOPBACK,)) == is_port


@given(st.text(max_size=300) | st.from_regex(r".{0,10}@.{0,260}", fullmatch=True))
def test_a_login_hint_is_kept_whole_or_not_at_all(text: str) -> None:
    kept = login_hint(text)

    assert kept in ("", text)
    assert not kept or (kept.count("@") == 1 and len(kept) <= 254)
    assert re.search(r"[\s<>\x00-\x1f\x7f]", kept) is None


@given(st.text())
def test_the_description_of_an_error_holds_no_character_that_it_must_not(detail: str) -> None:
    response_target = ResponseTarget(
        issuer=ISSUER, uri=CALLBACK, response_mode=ResponseMode.QUERY, state=None
    )

    parameters = dict(response_target.with_error(InvalidRequest(detail)).parameters)

    assert re.fullmatch(r"[\x20-\x21\x23-\x5B\x5D-\x7E]*", parameters["error_description"])
