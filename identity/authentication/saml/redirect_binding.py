"""Messages of the redirect binding, whose signature covers the query as it was sent: SAML 2.0 Bindings §3.4."""

import base64
import binascii
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import quote, unquote_plus, urlencode

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from cryptography.x509 import Certificate

from identity.authentication.saml.refusals import Refusal, RefusedMessage
from identity.crypto.xml.documents import MAX_BYTES, MalformedXml, XmlElement, parse, serialized

_MORE: Final = "http://www.w3.org/2001/04/xmldsig-more#"
_RSA_SHA256: Final = f"{_MORE}rsa-sha256"
_RSA: Final[dict[str, Callable[[], hashes.HashAlgorithm]]] = {
    _RSA_SHA256: hashes.SHA256,
    f"{_MORE}rsa-sha384": hashes.SHA384,
    f"{_MORE}rsa-sha512": hashes.SHA512,
}
_ECDSA: Final[dict[str, Callable[[], hashes.HashAlgorithm]]] = {
    f"{_MORE}ecdsa-sha256": hashes.SHA256,
    f"{_MORE}ecdsa-sha384": hashes.SHA384,
    f"{_MORE}ecdsa-sha512": hashes.SHA512,
}
_SIGNED: Final = ("SAMLRequest", "RelayState", "SigAlg")
_RAW_DEFLATE: Final = -15


def deflated(element: XmlElement) -> str:
    """Return the element as the value of a parameter: §3.4.4.1."""
    deflate = zlib.compressobj(wbits=_RAW_DEFLATE)
    return base64.b64encode(deflate.compress(serialized(element)) + deflate.flush()).decode()


def signed_query(parameters: Iterable[tuple[str, str]], key: RSAPrivateKey) -> list[tuple[str, str]]:
    """Sign the query as the edge writes it: §3.4.4.1."""
    signed_parameters = [*parameters, ("SigAlg", _RSA_SHA256)]
    query = urlencode(signed_parameters, quote_via=quote).encode()
    signature = key.sign(query, PKCS1v15(), hashes.SHA256())
    return [*signed_parameters, ("Signature", base64.b64encode(signature).decode())]


def verified_request(query: str, certificates: Iterable[Certificate]) -> tuple[XmlElement, str]:
    """Return the signed request of an unchanged query, and its relay state; raises RefusedMessage."""
    sent = SentQuery.of(query)
    sent.expect_signed_by(certificates)
    return sent.request(), sent.relay_state


@dataclass(frozen=True, slots=True)
class SentQuery:
    """An unverified query; `parts` are its values without decoding. All methods raise RefusedMessage."""

    parts: Mapping[str, str]

    @classmethod
    def of(cls, query: str) -> Self:
        return cls(_parts(query))

    @property
    def is_signed(self) -> bool:
        return "Signature" in self.parts

    @property
    def relay_state(self) -> str:
        return unquote_plus(self.parts.get("RelayState", ""))

    def request(self, *, max_octets: int = MAX_BYTES) -> XmlElement:
        """Return the request, of at most `max_octets` when it is inflated."""
        return _inflated(unquote_plus(self.parts.get("SAMLRequest", "")), max_octets)

    def expect_signed_by(self, certificates: Iterable[Certificate]) -> None:
        parts = self.parts
        if "Signature" not in parts or "SigAlg" not in parts:
            raise RefusedMessage(Refusal.UNSIGNED)
        octets = "&".join(f"{name}={parts[name]}" for name in _SIGNED if name in parts).encode()
        algorithm, signature = unquote_plus(parts["SigAlg"]), _octets(unquote_plus(parts["Signature"]))
        if algorithm not in _RSA and algorithm not in _ECDSA:
            raise RefusedMessage(Refusal.ALGORITHM)
        if not any(_is_signed(octets, signature, algorithm, certificate) for certificate in certificates):
            raise RefusedMessage(Refusal.SIGNATURE)


def _parts(query: str) -> dict[str, str]:
    """Return the values without decoding; raises RefusedMessage for a repeated name."""
    pairs = [pair.partition("=")[::2] for pair in query.split("&") if pair]
    parts = dict(pairs)
    if len(parts) != len(pairs):
        raise RefusedMessage(Refusal.MALFORMED)
    return parts


def _is_signed(octets: bytes, signature: bytes, algorithm: str, certificate: Certificate) -> bool:
    key = certificate.public_key()
    try:
        if isinstance(key, RSAPublicKey) and algorithm in _RSA:
            key.verify(signature, octets, PKCS1v15(), _RSA[algorithm]())
        elif isinstance(key, EllipticCurvePublicKey) and algorithm in _ECDSA:
            key.verify(signature, octets, ECDSA(_ECDSA[algorithm]()))
        else:
            return False
    except InvalidSignature:
        return False
    return True


def _inflated(message: str, max_octets: int) -> XmlElement:
    inflate = zlib.decompressobj(wbits=_RAW_DEFLATE)
    try:
        # One octet above the limit shows that the message is longer.
        octets = inflate.decompress(_octets(message), max_octets + 1)
        if len(octets) > max_octets:
            raise RefusedMessage(Refusal.MALFORMED)
        return parse(octets)
    except (zlib.error, MalformedXml) as error:
        raise RefusedMessage(Refusal.MALFORMED) from error


def _octets(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise RefusedMessage(Refusal.MALFORMED) from error
