"""A SAML identity provider for tests: writes responses part by part, so that each part can be wrong."""

import base64
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, OAEP
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from lxml import etree
from lxml.etree import _Element as XmlElement
from signxml.algorithms import CanonicalizationMethod, DigestAlgorithm, SignatureMethod
from signxml.signer import XMLSigner

SAML = "urn:oasis:names:tc:SAML:2.0:assertion"
SAMLP = "urn:oasis:names:tc:SAML:2.0:protocol"
DS = "http://www.w3.org/2000/09/xmldsig#"
XENC = "http://www.w3.org/2001/04/xmlenc#"
XENC11 = "http://www.w3.org/2009/xmlenc11#"
NAMES = {"saml": SAML, "samlp": SAMLP, "ds": DS, "xenc": XENC}
ENTITY_ID = "https://idp.example.com/saml"
SIGN_ON = "https://idp.example.com/sso"
PERSISTENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
BEARER = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
SUCCESS = "urn:oasis:names:tc:SAML:2.0:status:Success"
MAIL, GIVEN_NAME, SURNAME = "urn:oid:0.9.2342.19200300.100.1.3", "urn:oid:2.5.4.42", "urn:oid:2.5.4.4"

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


@dataclass(frozen=True)
class Pair:
    """A key, and a certificate around it that has expired long ago."""

    key: PrivateKey
    certificate: x509.Certificate

    @property
    def text(self) -> str:
        return base64.b64encode(self.certificate.public_bytes(Encoding.DER)).decode()


@cache
def pair(name: str = "idp", *, bits: int = 2048, is_ec: bool = False) -> Pair:
    key: PrivateKey = (
        ec.generate_private_key(ec.SECP256R1()) if is_ec else rsa.generate_private_key(65537, bits)
    )
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2021, 1, 1, tzinfo=UTC))
        .sign(key, hashes.SHA256())
    )
    return Pair(key, certificate)


@dataclass(frozen=True)
class Facts:
    """What a response says; a part that is None is left out."""

    destination: str | None
    recipient: str | None
    audience: str | None
    in_response_to: str | None
    now: datetime
    issuer: str | None = ENTITY_ID
    response_issuer: str | None = ENTITY_ID
    response_in_response_to: str | None = ""
    status: str = SUCCESS
    response_id: str = "_response"
    assertion_id: str = "_assertion"
    name_id: str = "alice-there"
    name_id_format: str = PERSISTENT
    method: str = BEARER
    confirmed_until: timedelta | None = timedelta(minutes=5)
    confirmed_from: timedelta | None = None
    valid_from: timedelta = timedelta(minutes=-1)
    valid_until: timedelta = timedelta(minutes=5)
    authenticated: timedelta = timedelta()
    session_until: timedelta = timedelta(hours=8)
    issued: timedelta = timedelta()
    condition: str = ""
    has_statement: bool = True
    attributes: dict[str, tuple[str, ...]] = field(
        default_factory=lambda: {MAIL: ("alice@example.com",), GIVEN_NAME: ("Alice",), SURNAME: ("Doe",)}
    )

    def but(self, **changes: Any) -> "Facts":
        return replace(self, **changes)


def response(facts: Facts) -> XmlElement:
    """Return the unsigned response."""
    answered = facts.in_response_to if facts.response_in_response_to == "" else facts.response_in_response_to
    return etree.fromstring(
        f'<samlp:Response xmlns:samlp="{SAMLP}" xmlns:saml="{SAML}" ID="{facts.response_id}" Version="2.0"'
        f' IssueInstant="{at(facts, facts.issued)}"{attribute("Destination", facts.destination)}'
        f"{attribute('InResponseTo', answered)}>"
        f"{element('saml:Issuer', facts.response_issuer)}"
        f'<samlp:Status><samlp:StatusCode Value="{facts.status}"/></samlp:Status>'
        f"{assertion(facts)}</samlp:Response>"
    )


def assertion(facts: Facts) -> str:
    until, beginning = facts.confirmed_until, facts.confirmed_from
    attributes = "".join(
        f'<saml:Attribute Name="{name}">'
        + "".join(f"<saml:AttributeValue>{value}</saml:AttributeValue>" for value in values)
        + "</saml:Attribute>"
        for name, values in facts.attributes.items()
    )
    statement = (
        f'<saml:AuthnStatement AuthnInstant="{at(facts, facts.authenticated)}" SessionIndex="s1"'
        f' SessionNotOnOrAfter="{at(facts, facts.session_until)}"><saml:AuthnContext>'
        "<saml:AuthnContextClassRef>https://refeds.org/profile/mfa</saml:AuthnContextClassRef>"
        "</saml:AuthnContext></saml:AuthnStatement>"
    )
    return (
        f'<saml:Assertion xmlns:saml="{SAML}" ID="{facts.assertion_id}" Version="2.0"'
        f' IssueInstant="{at(facts, facts.issued)}">{element("saml:Issuer", facts.issuer)}'
        f'<saml:Subject><saml:NameID Format="{facts.name_id_format}">{facts.name_id}</saml:NameID>'
        f'<saml:SubjectConfirmation Method="{facts.method}"><saml:SubjectConfirmationData'
        f"{attribute('Recipient', facts.recipient)}{attribute('InResponseTo', facts.in_response_to)}"
        f"{attribute('NotOnOrAfter', None if until is None else at(facts, until))}"
        f"{attribute('NotBefore', None if beginning is None else at(facts, beginning))}/>"
        "</saml:SubjectConfirmation></saml:Subject>"
        f'<saml:Conditions NotBefore="{at(facts, facts.valid_from)}"'
        f' NotOnOrAfter="{at(facts, facts.valid_until)}">{facts.condition}'
        f"{audience_restriction(facts.audience)}</saml:Conditions>"
        f"{statement if facts.has_statement else ''}"
        f"<saml:AttributeStatement>{attributes}</saml:AttributeStatement></saml:Assertion>"
    )


def signed(
    element: XmlElement,
    by: Pair | None = None,
    *,
    method: SignatureMethod = SignatureMethod.RSA_SHA256,
    digest: DigestAlgorithm = DigestAlgorithm.SHA256,
    hmac_key: bytes = b"",
) -> XmlElement:
    """Return the element with an enveloped signature, after its issuer."""
    signer_of = _Weak if "SHA1" in method.name or "SHA1" in digest.name else XMLSigner
    signer = signer_of(
        signature_algorithm=method,
        digest_algorithm=digest,
        c14n_algorithm=CanonicalizationMethod.EXCLUSIVE_XML_CANONICALIZATION_1_0,
    )
    element = etree.fromstring(etree.tostring(element))
    element.insert(1, etree.Element(f"{{{DS}}}Signature", {"Id": "placeholder"}, nsmap={"ds": DS}))
    by = by or pair()
    key: Any = hmac_key or by.key
    cert = None if hmac_key else [by.certificate]
    return signer.sign(element, key=key, cert=cert, reference_uri=f"#{element.get('ID')}", id_attribute="ID")


def with_signed_assertion(whole: XmlElement, by: Pair | None = None, **algorithms: Any) -> XmlElement:
    """Return the response with its assertion signed."""
    return with_assertion(whole, lambda found: signed(found, by, **algorithms))


def with_assertion(whole: XmlElement, change: Callable[[XmlElement], XmlElement]) -> XmlElement:
    """Return the response with another element in place of its assertion."""
    whole = etree.fromstring(etree.tostring(whole))
    (found,) = whole.iterfind(f"{{{SAML}}}Assertion")
    whole.replace(found, change(found))
    return whole


def encrypted(
    assertion_element: XmlElement,
    certificate: str,
    *,
    is_cbc: bool = False,
    is_pkcs1: bool = False,
    digest: hashes.HashAlgorithm | None = None,
    content_key: bytes = b"k" * 32,
    tag: str = "EncryptedAssertion",
) -> XmlElement:
    """Return the assertion, or another element, encrypted for the certificate, which is base64 of DER."""
    public = x509.load_der_x509_certificate(base64.b64decode(certificate)).public_key()
    assert isinstance(public, rsa.RSAPublicKey)
    text = etree.tostring(assertion_element, with_tail=False)
    if is_cbc:
        size = 16 - len(text) % 16
        encryptor = Cipher(AES(content_key), CBC(b"i" * 16)).encryptor()
        octets = (
            b"i" * 16 + encryptor.update(text + b"\0" * (size - 1) + bytes([size])) + encryptor.finalize()
        )
    else:
        octets = b"n" * 12 + AESGCM(content_key).encrypt(b"n" * 12, text, None)
    algorithm = f"{XENC}aes256-cbc" if is_cbc else f"{XENC11}aes256-gcm"
    hashed = digest or hashes.SHA256()
    transport = f"{XENC}rsa-1_5" if is_pkcs1 else f"{XENC11}rsa-oaep"
    digests = DS if hashed.name == "sha1" else XENC
    parameters = (
        f'<ds:DigestMethod xmlns:ds="{DS}" Algorithm="{digests}{hashed.name}"/>'
        f'<xenc11:MGF xmlns:xenc11="{XENC11}" Algorithm="{XENC11}mgf1{hashed.name}"/>'
    )
    wrapped = public.encrypt(content_key, OAEP(MGF1(hashed), hashed, None))
    return etree.fromstring(
        f'<saml:{tag} xmlns:saml="{SAML}"><xenc:EncryptedData xmlns:xenc="{XENC}"'
        f' Type="{XENC}Element"><xenc:EncryptionMethod Algorithm="{algorithm}"/>'
        f'<ds:KeyInfo xmlns:ds="{DS}"><xenc:EncryptedKey><xenc:EncryptionMethod Algorithm="{transport}">'
        f"{'' if is_pkcs1 else parameters}</xenc:EncryptionMethod><xenc:CipherData><xenc:CipherValue>"
        f"{base64.b64encode(wrapped).decode()}</xenc:CipherValue></xenc:CipherData></xenc:EncryptedKey>"
        f"</ds:KeyInfo><xenc:CipherData><xenc:CipherValue>{base64.b64encode(octets).decode()}"
        f"</xenc:CipherValue></xenc:CipherData></xenc:EncryptedData></saml:{tag}>"
    )


def with_hidden_name(
    assertion_element: XmlElement, certificate: str, *, hidden: XmlElement | None = None, is_cbc: bool = False
) -> XmlElement:
    """Encrypt the name of the user, or another element in its place, for the certificate."""
    (name,) = assertion_element.iterfind(f"{{{SAML}}}Subject/{{{SAML}}}NameID")
    subject = name.getparent()
    assert subject is not None
    there = name if hidden is None else hidden
    subject.replace(name, encrypted(there, certificate, is_cbc=is_cbc, tag="EncryptedID"))
    return assertion_element


def posted(element: XmlElement) -> str:
    """Return the response as the form has it."""
    return base64.b64encode(etree.tostring(element)).decode()


def at(facts: Facts, offset: timedelta) -> str:
    return (facts.now + offset).strftime("%Y-%m-%dT%H:%M:%SZ")


def attribute(name: str, value: str | None) -> str:
    return "" if value is None else f' {name}="{value}"'


def element(name: str, text: str | None) -> str:
    return "" if text is None else f"<{name}>{text}</{name}>"


def audience_restriction(audience: str | None) -> str:
    if audience is None:
        return ""
    return f"<saml:AudienceRestriction><saml:Audience>{audience}</saml:Audience></saml:AudienceRestriction>"


class _Weak(XMLSigner):
    """Signs with SHA-1, which the library refuses."""

    def check_deprecated_methods(self) -> None:
        """Accept all."""
