"""Property: arbitrary input is either refused or a JWT with a valid signature."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from joserfc.jwk import ECKey

from identity.crypto.jose.public_keys import RefusedJwk, parse_key_set, public_key
from identity.crypto.signed_jwt import CLIENT_ALGORITHMS, MalformedJwt, parse

KEY = ECKey.generate_key("P-256")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def is_believed(token: str) -> bool:
    try:
        return parse(token).is_signed_by(KEY, CLIENT_ALGORITHMS)
    except MalformedJwt:
        return False


HEADERS = [
    pytest.param('"alg"', id="a text"),
    pytest.param('["alg"]', id="a list"),
    pytest.param("null", id="nothing"),
    pytest.param("[" * 2900, id="endless nesting"),
    pytest.param('{"alg":5}', id="algorithm that is a number"),
    pytest.param('{"alg":["ES256"]}', id="algorithm that is a list"),
    pytest.param('{"alg":"ES256","crit":5}', id="crit that is a number"),
    pytest.param('{"alg":"ES256","crit":["x"]}', id="crit that nobody knows"),
    pytest.param('{"alg":"ES256","b64":false,"crit":["b64"]}', id="payload that is not encoded"),
    pytest.param('{"alg":"ES256","x":"' + "x" * 5000 + '"}', id="too long"),
]


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_that_is_none_is_refused(header: str) -> None:
    assert not is_believed(f"{encoded(header)}.{encoded('{}')}.AAAA")


@pytest.mark.parametrize("payload", ["[]", "5", "x", '{"a":' * 3000, '{"exp":1e999}'])
def test_claims_that_are_none_are_refused(payload: str) -> None:
    header = encoded('{"alg":"ES256"}')

    assert not is_believed(f"{header}.{encoded(payload)}.AAAA")


@pytest.mark.parametrize(
    ("header", "payload"),
    [
        pytest.param('{"alg":"none","alg":"ES256"}', "{}", id="header"),
        pytest.param('{"alg":"ES256"}', '{"sub":"ada","sub":"eve"}', id="claims"),
        pytest.param('{"alg":"ES256"}', '{"cnf":{"jkt":"a","jkt":"b"}}', id="claims within"),
    ],
)
def test_a_jwt_with_a_member_that_comes_twice_is_refused(header: str, payload: str) -> None:
    with pytest.raises(MalformedJwt):
        parse(f"{encoded(header)}.{encoded(payload)}.AAAA")


@given(st.text() | st.lists(st.text("eyJhbGciOi_-", max_size=20), min_size=3, max_size=3).map(".".join))
def test_no_text_is_believed(token: str) -> None:
    assert not is_believed(token)


JWKS: list[object] = [
    pytest.param(KEY.as_dict(private=True), id="private key"),
    pytest.param({"kty": "oct", "k": "AAAA"}, id="symmetric key"),
    pytest.param({"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}, id="point that is not on the curve"),
    pytest.param({"kty": "EC", "crv": "nope", "x": "AA", "y": "AA"}, id="unknown curve"),
    pytest.param(
        ECKey.generate_key("P-384").as_dict(private=False), id="curve of no algorithm that is taken"
    ),
    pytest.param({"kty": "OKP", "crv": "X25519", "x": "A" * 43}, id="key that signs nothing"),
    pytest.param({"kty": "RSA", "n": "x" * 171, "e": "AQAB"}, id="short RSA key"),
    pytest.param({"kty": "RSA", "n": "x" * 4000, "e": "AQAB"}, id="enormous RSA key"),
    pytest.param({"kty": "RSA", "n": "x" * 342, "e": ""}, id="RSA key without exponent"),
    pytest.param({"kty": ["EC"]}, id="kind that is a list"),
    pytest.param({}, id="empty"),
]


@pytest.mark.parametrize("jwk", JWKS)
def test_a_key_that_is_not_taken_is_refused(jwk: dict[str, object]) -> None:
    with pytest.raises(RefusedJwk):
        public_key(jwk)


@given(st.dictionaries(st.sampled_from(["kty", "crv", "x", "y", "n", "e", "use", "alg", "kid"]), JSON))
def test_no_invented_key_does_more_harm_than_to_be_refused(jwk: dict[str, object]) -> None:
    with pytest.raises(RefusedJwk):
        public_key(jwk)


def test_in_a_key_set_keys_that_are_not_taken_are_passed_over() -> None:
    document = json.dumps({"keys": [{"kty": "oct", "k": "AA"}, KEY.as_dict(private=False)]})

    assert len(parse_key_set(document)) == 1


@pytest.mark.parametrize(
    "document", ["", "nonsense", "[]", '{"keys":5}', '{"keys":[5]}', '{"keys":' + "[" * 9999]
)
def test_what_is_no_key_set_has_no_keys(document: str) -> None:
    assert parse_key_set(document) == ()
