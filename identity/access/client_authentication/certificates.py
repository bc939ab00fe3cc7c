"""Client authentication by the certificate of the TLS connection: RFC 8705 §2.

`tls_client_auth` verifies here that a configured authority issued the certificate, so that it does not depend on what
the proxy verifies. `self_signed_tls_client_auth` needs no authority: the connection proves the certificate's key, which
must be a key of the client.
"""

from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.x509.verification import (
    Criticality,
    ExtensionPolicy,
    PolicyBuilder,
    Store,
    VerificationError,
)
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey

from identity.access.client_authentication.client_keys import ClientKeys
from identity.directory.client import CertificateName, CertificateNameType, Client
from identity.foundation.vocabulary import AuthenticationMethod
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument

_TEXTS: Mapping[
    CertificateNameType,
    type[x509.DNSName] | type[x509.UniformResourceIdentifier] | type[x509.RFC822Name],
] = {
    CertificateNameType.SAN_DNS: x509.DNSName,
    CertificateNameType.SAN_URI: x509.UniformResourceIdentifier,
    CertificateNameType.SAN_EMAIL: x509.RFC822Name,
}


class ClientCertificates:
    """Without `authorities`, no client can authenticate by `tls_client_auth`."""

    def __init__(
        self, keys: ClientKeys, clock: Clock, *, authorities: Iterable[x509.Certificate] = ()
    ) -> None:
        self._keys = keys
        self._clock = clock
        self._authorities = list(authorities)

    async def prove(self, certificate: bytes, client: Client) -> bool:
        """Whether the certificate of the connection, in DER, belongs to the client and is valid now."""
        try:
            presented = x509.load_der_x509_certificate(certificate)
            if client.token_endpoint_auth_method is AuthenticationMethod.SELF_SIGNED_TLS_CLIENT_AUTH:
                return self._is_of_now(presented) and await self._has_key_of(presented, client)
            name = client.certificate_name
            return name is not None and _is_named(presented, name) and self._is_issued(presented)
        except (ValueError, UnsupportedAlgorithm, x509.DuplicateExtension, x509.UnsupportedGeneralNameType):
            return False

    def _is_of_now(self, presented: x509.Certificate) -> bool:
        return presented.not_valid_before_utc <= self._clock.now() <= presented.not_valid_after_utc

    async def _has_key_of(self, presented: x509.Certificate, client: Client) -> bool:
        key = _jwk_of(presented)
        thumbprint = key.thumbprint() if key is not None else ""
        return any(thumbprint == known.thumbprint() for known in await self._keys.of(client, kid=""))

    def _is_issued(self, presented: x509.Certificate) -> bool:
        if not self._authorities:
            return False
        builder = (
            PolicyBuilder()
            .store(Store(self._authorities))
            .time(self._clock.now())
            .extension_policies(ca_policy=_AUTHORITIES, ee_policy=ExtensionPolicy.permit_all())
        )
        try:
            builder.build_client_verifier().verify(presented, [])
        except VerificationError:
            return False
        return True


# The operator chose each of them; the certificate itself must say that it is an authority.
_AUTHORITIES = ExtensionPolicy.permit_all().require_present(x509.BasicConstraints, Criticality.AGNOSTIC, None)


def read_authorities(path: str) -> tuple[x509.Certificate, ...]:
    """Read a PEM file; raises ValueError for one without a certificate of an authority."""
    if not path:
        return ()
    try:
        found = tuple(x509.load_pem_x509_certificates(Path(path).read_bytes()))
        are_authorities = all(
            certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
            for certificate in found
        )
    except (OSError, ValueError, x509.ExtensionNotFound) as error:
        raise ValueError(
            "mutual_tls.authorities: expected a PEM file with certificates of authorities"
        ) from error
    if not are_authorities:
        raise ValueError("mutual_tls.authorities: expected authorities, found a certificate of another use")
    return found


def expect_name(name: CertificateName) -> None:
    """Expect a well-formed name; raises InvalidArgument."""
    try:
        if name.type is CertificateNameType.SUBJECT_DN:
            _name_of(name.value)
        if name.type is CertificateNameType.SAN_IP:
            ip_address(name.value)
    except ValueError as error:
        raise InvalidArgument(
            f"tls_client_auth_{name.type}: expected a name as in a certificate; a subject is written as RFC 4514 says"
        ) from error


def _is_named(presented: x509.Certificate, name: CertificateName) -> bool:
    if name.type is CertificateNameType.SUBJECT_DN:
        return list(_relative_names(presented.subject)) == list(_relative_names(_name_of(name.value)))
    try:
        names = presented.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return False
    if name.type is CertificateNameType.SAN_IP:
        return ip_address(name.value) in names.get_values_for_type(x509.IPAddress)
    found = names.get_values_for_type(_TEXTS[name.type])
    if name.type is CertificateNameType.SAN_DNS:
        return name.value.lower() in {each.lower() for each in found}
    return name.value in found


def _name_of(text: str) -> x509.Name:
    # RFC 4514 §3 has no short name for it, but many certificates contain it.
    return x509.Name.from_rfc4514_string(text, {"emailAddress": x509.OID_EMAIL_ADDRESS})


def _relative_names(name: x509.Name) -> Iterable[frozenset[tuple[str, str | bytes]]]:
    """Yield the relative names; the type of their strings does not matter, and the comparison is case-sensitive."""
    for relative in name.rdns:
        yield frozenset((attribute.oid.dotted_string, attribute.value) for attribute in relative)


def _jwk_of(presented: x509.Certificate) -> Key | None:
    key = presented.public_key()
    try:
        match key:
            case RSAPublicKey():
                return RSAKey(key, key)
            case EllipticCurvePublicKey():
                return ECKey(key, key)
            case Ed25519PublicKey():
                return OKPKey(key, key)
            case _:
                return None
    except JoseError:
        return None
