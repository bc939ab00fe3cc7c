"""Client secrets that are JWTs of ours, as Sign in with Apple asks for: ES256, with the team as issuer."""

from datetime import timedelta

import msgspec
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from joserfc import jws
from joserfc.jwk import ECKey

from identity.crypto.jose.algorithms import SigningAlgorithm
from identity.crypto.jose.signatures import SIGNATURES
from identity.directory.provider import ProviderFields, SignedSecret
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument

_LIFETIME = timedelta(minutes=5)


def signed_secret(fields: ProviderFields, secret: SignedSecret, pem: str, clock: Clock) -> str:
    """Return a secret that is valid for five minutes."""
    now = int(clock.now().timestamp())
    claims = {
        "iss": secret.team_id,
        "iat": now,
        "exp": now + int(_LIFETIME.total_seconds()),
        "aud": fields.issuer,
        "sub": fields.client_id,
    }
    header = {"alg": SigningAlgorithm.ES256.value, "kid": secret.key_id}
    key = ECKey.import_key(pem)
    return jws.serialize_compact(header, msgspec.json.encode(claims), key, registry=SIGNATURES)


def expect_private_key(pem: str) -> None:
    """Raise InvalidArgument for anything else than an EC P-256 private key in PEM."""
    try:
        key = load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError) as error:
        raise _no_key() from error
    if not isinstance(key, EllipticCurvePrivateKey) or not isinstance(key.curve, SECP256R1):
        raise _no_key()


def _no_key() -> InvalidArgument:
    return InvalidArgument("client_secret: expected an EC P-256 private key in PEM, with signed_secret")
