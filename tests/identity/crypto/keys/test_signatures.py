"""Signatures of every algorithm verify with a second library."""

import asyncio
import base64
import json
from collections.abc import Callable

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from joserfc.errors import JoseError

from identity.crypto.jose.algorithms import ALGORITHMS, KeyKind, SigningAlgorithm
from identity.crypto.jose.key_set import KeySet
from identity.crypto.jose.signing_key import SigningKey
from identity.crypto.jose.verification_key import PublicJwk
from identity.crypto.keys.key_maker import ThreadedKeyMaker

Verify = Callable[[PublicJwk, bytes, bytes], None]

PAYLOAD = b'{"sub":"service"}'


@pytest.fixture(scope="module")
def keys() -> KeySet:
    return asyncio.run(made())


async def made() -> KeySet:
    making = ThreadedKeyMaker()
    keys = [
        SigningKey.of(f"kid-{kind.algorithm}", kind.algorithm, await making.make(kind)) for kind in ALGORITHMS
    ]
    making.close()
    return KeySet(tuple(keys))


def octets(text: str | None) -> bytes:
    assert text is not None
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def number(text: str | None) -> int:
    return int.from_bytes(octets(text))


def rsa_verifier(hash_algorithm: hashes.HashAlgorithm) -> Verify:
    def verify(jwk: PublicJwk, signature: bytes, signed: bytes) -> None:
        key = RSAPublicNumbers(number(jwk.e), number(jwk.n)).public_key()
        key.verify(signature, signed, padding.PKCS1v15(), hash_algorithm)

    return verify


def verify_es256(jwk: PublicJwk, signature: bytes, signed: bytes) -> None:
    # RFC 7518 §3.4: r and s, each of 32 octets.
    assert len(signature) == 64
    key = ec.EllipticCurvePublicNumbers(number(jwk.x), number(jwk.y), ec.SECP256R1()).public_key()
    der = encode_dss_signature(int.from_bytes(signature[:32]), int.from_bytes(signature[32:]))
    key.verify(der, signed, ec.ECDSA(hashes.SHA256()))


def verify_eddsa(jwk: PublicJwk, signature: bytes, signed: bytes) -> None:
    Ed25519PublicKey.from_public_bytes(octets(jwk.x)).verify(signature, signed)


VERIFIERS: dict[SigningAlgorithm, Verify] = {
    SigningAlgorithm.RS256: rsa_verifier(hashes.SHA256()),
    SigningAlgorithm.ES256: verify_es256,
    SigningAlgorithm.EDDSA: verify_eddsa,
    SigningAlgorithm.RS384: rsa_verifier(hashes.SHA384()),
    SigningAlgorithm.RS512: rsa_verifier(hashes.SHA512()),
}

MEMBERS = {
    SigningAlgorithm.RS256: {"kty": "RSA", "n": 2048 // 8, "e": 3},
    SigningAlgorithm.ES256: {"kty": "EC", "crv": "P-256", "x": 32, "y": 32},
    SigningAlgorithm.EDDSA: {"kty": "OKP", "crv": "Ed25519", "x": 32},
    SigningAlgorithm.RS384: {"kty": "RSA", "n": 3072 // 8, "e": 3},
    SigningAlgorithm.RS512: {"kty": "RSA", "n": 4096 // 8, "e": 3},
}


@pytest.mark.parametrize("algorithm", SigningAlgorithm)
def test_a_signature_holds_for_an_independent_verifier(keys: KeySet, algorithm: SigningAlgorithm) -> None:
    key = keys.signing_key(algorithm)

    signed, _, signature = key.sign(PAYLOAD).rpartition(".")

    VERIFIERS[algorithm](key.public_jwk, octets(signature), signed.encode())
    with pytest.raises(InvalidSignature):
        VERIFIERS[algorithm](key.public_jwk, octets(signature), f"{signed}x".encode())


@pytest.mark.parametrize("algorithm", SigningAlgorithm)
def test_the_header_names_algorithm_key_and_type(keys: KeySet, algorithm: SigningAlgorithm) -> None:
    header = json.loads(octets(keys.signing_key(algorithm).sign(b"{}", typ="at+jwt").partition(".")[0]))

    assert {"alg": algorithm.value, "kid": f"kid-{algorithm}", "typ": "at+jwt"} == header


@pytest.mark.parametrize("algorithm", SigningAlgorithm)
def test_public_members_have_their_size_and_no_other_is_published(
    keys: KeySet, algorithm: SigningAlgorithm
) -> None:
    jwk = keys.signing_key(algorithm).public_jwk

    members = {name: getattr(jwk, name) for name in ("kty", "n", "e", "crv", "x", "y")}
    found = {
        name: value if name in ("kty", "crv") else len(octets(value))
        for name, value in members.items()
        if value is not None
    }
    assert MEMBERS[algorithm] == found
    assert (jwk.use, jwk.alg, jwk.kid) == ("sig", algorithm.value, f"kid-{algorithm}")


@pytest.mark.parametrize("kind", ALGORITHMS, ids=lambda kind: kind.algorithm)
def test_a_key_takes_what_it_signed_and_nothing_else(keys: KeySet, kind: KeyKind) -> None:
    key = keys.signing_key(kind.algorithm)
    token = key.sign(PAYLOAD)

    assert key.payload(token) == PAYLOAD
    for other in keys.keys:
        if other is not key:
            with pytest.raises(JoseError):
                other.payload(token)
    with pytest.raises(JoseError):
        key.payload("eyJhbGciOiJub25lIn0.e30.")


def test_private_keys_are_not_shown(keys: KeySet) -> None:
    assert "private_key" not in repr(keys)
