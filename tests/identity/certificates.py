"""Certificates of clients and of authorities, for tests of mutual TLS."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

from tests.identity.protocol.provider import NOON

_DAY = timedelta(days=1)


def name_of(text: str) -> x509.Name:
    return x509.Name.from_rfc4514_string(text, {"emailAddress": x509.OID_EMAIL_ADDRESS})


@dataclass(frozen=True)
class Issued:
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(Encoding.DER)

    def write(self, path: Path) -> str:
        path.write_bytes(self.certificate.public_bytes(Encoding.PEM))
        return str(path)


def issue(
    subject: str,
    issuer: Issued | None = None,
    *,
    names: Sequence[x509.GeneralName] = (),
    is_authority: bool = False,
    key: ec.EllipticCurvePrivateKey | None = None,
    until: datetime = NOON + 365 * _DAY,
) -> Issued:
    """Issue a certificate; without an issuer it is self-signed."""
    key = key or ec.generate_private_key(ec.SECP256R1())
    builder = (
        x509.CertificateBuilder()
        .subject_name(name_of(subject))
        .issuer_name(issuer.certificate.subject if issuer else name_of(subject))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOON - 3650 * _DAY)
        .not_valid_after(until)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
    )
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return Issued(builder.sign(issuer.key if issuer else key, hashes.SHA256()), key)
