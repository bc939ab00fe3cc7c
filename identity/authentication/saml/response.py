"""A response to an authentication request: SAML 2.0 Core §3.3.3, Bindings §3.5, Profiles §4.1.4.

The response has one assertion, as its direct child. Its own signature or that of the assertion is verified, and only
the signed content is read, so an element that somebody added has no effect.
"""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.x509 import Certificate

from identity.authentication.saml.assertion import Assertion, Expected, expect_issuer, instant, read
from identity.authentication.saml.names import SAML, SAMLP, SUCCESS
from identity.authentication.saml.refusals import Refusal, RefusedMessage
from identity.crypto.xml.documents import MAX_BYTES, MalformedXml, XmlElement, parse
from identity.crypto.xml.encryption import Undecryptable, decrypted
from identity.crypto.xml.signatures import SIGNATURE, InvalidSignature, WeakAlgorithm, is_signed, verified
from identity.foundation.errors import AccessDenied

_RESPONSE = f"{SAMLP}Response"
_ASSERTION, _ENCRYPTED = f"{SAML}Assertion", f"{SAML}EncryptedAssertion"
# Base64 has four characters for three octets, and line ends.
MAX_CHARACTERS = MAX_BYTES * 3 // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """The provider's certificates, and our key; with `requires_encryption` a readable assertion is refused."""

    certificates: Sequence[Certificate]
    key: RSAPrivateKey
    requires_encryption: bool


def assertion_of(message: str, expected: Expected, trust: Trust) -> Assertion:
    """Return the assertion of a response; raises RefusedMessage, and AccessDenied for a status that is no success."""
    response = decoded(message, _RESPONSE)
    _expect_structure(response)
    response, is_authentic = _verified_response(response, trust)
    _expect_response(response, expected)
    return read(_assertion(response, trust, is_authentic=is_authentic), expected, trust.key)


def decoded(message: str, tag: str, *, max_characters: int = MAX_CHARACTERS) -> XmlElement:
    """Return the root of a message of the POST binding; raises RefusedMessage."""
    if len(message) > max_characters:
        raise RefusedMessage(Refusal.MALFORMED)
    try:
        element = parse(base64.b64decode("".join(message.split()), validate=True))
    except (binascii.Error, ValueError, MalformedXml) as error:
        raise RefusedMessage(Refusal.MALFORMED) from error
    if element.tag != tag or element.get("Version") != "2.0" or not element.get("ID"):
        raise RefusedMessage(Refusal.MALFORMED)
    return element


def verified_message(element: XmlElement, certificates: Sequence[Certificate]) -> XmlElement:
    """Return the signed form of the element; raises RefusedMessage."""
    if not is_signed(element):
        raise RefusedMessage(Refusal.UNSIGNED)
    try:
        return verified(element, certificates)
    except WeakAlgorithm as error:
        raise RefusedMessage(Refusal.ALGORITHM) from error
    except (InvalidSignature, MalformedXml) as error:
        raise RefusedMessage(Refusal.SIGNATURE) from error


def _expect_structure(response: XmlElement) -> None:
    """Expect one assertion, and signatures of it and of the response only; ids are unique."""
    assertions = list(response.iter(_ASSERTION, _ENCRYPTED))
    if len(assertions) > 1 or any(element.getparent() is not response for element in assertions):
        raise RefusedMessage(Refusal.STRUCTURE)
    signed = [signature.getparent() for signature in response.iter(SIGNATURE)]
    if len(set(signed)) != len(signed) or not set(signed) <= {response, *assertions}:
        raise RefusedMessage(Refusal.STRUCTURE)
    ids = [element.get("ID") for element in response.iter() if element.get("ID") is not None]
    if len(set(ids)) != len(ids):
        raise RefusedMessage(Refusal.STRUCTURE)


def _verified_response(response: XmlElement, trust: Trust) -> tuple[XmlElement, bool]:
    """Return the response, in its signed form if it is signed, and whether it is."""
    if not is_signed(response):
        return response, False
    return verified_message(response, trust.certificates), True


def _expect_response(response: XmlElement, expected: Expected) -> None:
    try:
        if response.find(f"{SAML}Issuer") is not None:
            expect_issuer(response, expected.issuer)
        if response.get("Destination") != expected.recipient:
            raise RefusedMessage(Refusal.DESTINATION)
        if response.get("InResponseTo") != expected.in_response_to:
            raise RefusedMessage(Refusal.IN_RESPONSE_TO)
        if instant(response.get("IssueInstant", "")) > expected.now + expected.skew:
            raise RefusedMessage(Refusal.TIME)
    except (ValueError, MalformedXml) as error:
        raise RefusedMessage(Refusal.MALFORMED) from error
    status = response.find(f"{SAMLP}Status/{SAMLP}StatusCode")
    if status is None:
        raise RefusedMessage(Refusal.MALFORMED)
    if status.get("Value") != SUCCESS:
        raise AccessDenied("the provider did not sign the user in")


def _assertion(response: XmlElement, trust: Trust, *, is_authentic: bool) -> XmlElement:
    """Return the assertion as it was signed, by itself or as a part of the response."""
    found = [element for element in response if element.tag in {_ASSERTION, _ENCRYPTED}]
    if len(found) != 1:
        raise RefusedMessage(Refusal.STRUCTURE)
    assertion = found[0]
    if assertion.tag == _ENCRYPTED:
        assertion = _decrypted(assertion, trust, is_authentic=is_authentic)
    elif trust.requires_encryption:
        raise RefusedMessage(Refusal.ENCRYPTION)
    if is_authentic and not is_signed(assertion):
        return assertion
    return verified_message(assertion, trust.certificates)


def _decrypted(encrypted: XmlElement, trust: Trust, *, is_authentic: bool) -> XmlElement:
    try:
        assertion = decrypted(encrypted, trust.key, is_authentic=is_authentic)
    except Undecryptable as error:
        raise RefusedMessage(Refusal.ENCRYPTION) from error
    signatures = [signature.getparent() for signature in assertion.iter(SIGNATURE)]
    has_others = any(element is not assertion for element in assertion.iter(_ASSERTION, _ENCRYPTED))
    if assertion.tag != _ASSERTION or has_others or signatures not in ([], [assertion]):
        raise RefusedMessage(Refusal.STRUCTURE)
    return assertion
