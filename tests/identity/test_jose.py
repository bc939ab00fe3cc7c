import base64
import json
import re

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers

from identity.jose.key_set import generate_key_set
from identity.jose.signing_key import SigningKey
from identity.key_ring import KeyRing
from identity.randomness import SystemRandomness
from server.platform.call import TenantId


@pytest.fixture(scope="module")
def key() -> SigningKey:
    return generate_key_set(lambda: SystemRandomness().alphanumeric(24)).keys[0]


def octets(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def number(text: str) -> int:
    return int.from_bytes(octets(text))


def test_a_signature_holds_for_an_independent_verifier(key: SigningKey) -> None:
    signed, _, signature = key.sign(b'{"sub":"service"}').rpartition(".")

    jwk = key.public_jwk
    public_key = RSAPublicNumbers(number(jwk.e or ""), number(jwk.n or "")).public_key()

    public_key.verify(octets(signature), signed.encode(), padding.PKCS1v15(), hashes.SHA256())
    with pytest.raises(InvalidSignature):
        public_key.verify(octets(signature), f"{signed}x".encode(), padding.PKCS1v15(), hashes.SHA256())


def test_the_header_names_algorithm_key_and_type(key: SigningKey) -> None:
    header = json.loads(octets(key.sign(b"{}").partition(".")[0]))

    assert {"alg": "RS256", "kid": key.kid, "typ": "JWT"} == header


def test_only_public_members_are_published(key: SigningKey) -> None:
    jwk = key.public_jwk

    assert ("RSA", "sig", "RS256", key.kid) == (jwk.kty, jwk.use, jwk.alg, jwk.kid)
    assert number(jwk.n or "").bit_length() == 2048
    assert not any(hasattr(jwk, member) for member in ("d", "p", "q", "dp", "dq", "qi"))


def test_a_private_key_is_not_shown(key: SigningKey) -> None:
    assert "RSAKey" not in repr(key)


def test_kids_are_long_random_words() -> None:
    kids = {SystemRandomness().alphanumeric(24) for _ in range(1000)}

    assert len(kids) == 1000
    assert all(re.fullmatch("[A-Za-z0-9]{24}", kid) for kid in kids)


def test_the_rs256_key_comes_first(key: SigningKey) -> None:
    key_set = generate_key_set(lambda: "kid")

    assert key_set.keys[0].algorithm == "RS256"
    assert key_set.find("kid") is key_set.signing_key(key.algorithm)
    assert key_set.find("another") is None


async def test_tenants_have_keys_of_their_own_that_stay() -> None:
    keys = KeyRing(SystemRandomness())

    acme, umbrella = await keys.key_set(TenantId("acme")), await keys.key_set(TenantId("umbrella"))

    assert acme != umbrella
    assert acme is await keys.key_set(TenantId("acme"))
    keys.close()
