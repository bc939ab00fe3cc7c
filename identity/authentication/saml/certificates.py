"""Certificates around SAML keys: those of providers, and our own self-signed one."""

import base64
import binascii
from collections.abc import Iterable
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from server.platform.errors import InvalidArgument

MOST = 8
"""Signing keys of a provider; two are in use while it replaces one."""

_MIN_RSA_BITS, _MIN_EC_BITS = 2048, 256
_LIFETIME = timedelta(days=3650)
_PEM_LINES = ("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----")


def certificate_of(text: str) -> x509.Certificate:
    """Read base64 of DER, or PEM; raises InvalidArgument for one without a strong RSA or EC key."""
    for line in _PEM_LINES:
        text = text.replace(line, "")
    try:
        certificate = x509.load_der_x509_certificate(base64.b64decode("".join(text.split()), validate=True))
        key = certificate.public_key()
    except (binascii.Error, ValueError, UnsupportedAlgorithm) as error:
        raise InvalidArgument(
            "certificates: expected X.509 certificates in PEM, or in base64 of DER"
        ) from error
    is_rsa = isinstance(key, RSAPublicKey) and key.key_size >= _MIN_RSA_BITS
    is_ec = isinstance(key, EllipticCurvePublicKey) and key.key_size >= _MIN_EC_BITS
    if not (is_rsa or is_ec):
        raise InvalidArgument(
            f"certificates: expected RSA keys of {_MIN_RSA_BITS} bits or more, or EC keys of {_MIN_EC_BITS}"
        )
    return certificate


def certificates_of(texts: Iterable[str]) -> tuple[x509.Certificate, ...]:
    return tuple(map(certificate_of, texts))


def text_of_certificate(certificate: x509.Certificate) -> str:
    """Return base64 of DER, as SAML metadata has it."""
    return base64.b64encode(certificate.public_bytes(Encoding.DER)).decode()


def own_certificate(key: RSAPrivateKey, name: str, now: datetime) -> x509.Certificate:
    """Return a self-signed certificate for our key."""
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + _LIFETIME)
        .sign(key, hashes.SHA256())
    )
