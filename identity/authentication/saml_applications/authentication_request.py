"""An authentication request of an application: SAML 2.0 Core §3.4.1, Profiles §4.1.4.1."""

from dataclasses import dataclass
from datetime import datetime

from identity.authentication.saml.assertion import instant
from identity.authentication.saml.names import SAML, SAMLP
from identity.authentication.saml.refusals import Refusal, RefusedMessage
from identity.crypto.xml.documents import MalformedXml, XmlElement, text_of

AUTHN_REQUEST = f"{SAMLP}AuthnRequest"

_MAX_ID = 256
_MOST_CONTEXTS = 16
_TRUE, _FALSE = {"true", "1"}, {"false", "0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthenticationRequest:
    """`acs_index` is None and texts are empty without a value; `contexts` is None without a requested context."""

    id: str
    issuer: str
    issued_at: datetime
    destination: str
    acs_url: str
    acs_index: int | None
    binding: str
    forces_authentication: bool
    is_passive: bool
    name_id_format: str
    name_qualifier: str
    contexts: tuple[str, ...] | None
    comparison: str
    subject: str


def read(element: XmlElement) -> AuthenticationRequest:
    """Raises RefusedMessage for a malformed request."""
    try:
        return _read(element)
    except (MalformedXml, ValueError) as error:
        raise RefusedMessage(Refusal.MALFORMED) from error


def issuer_of(element: XmlElement) -> str:
    """Return the issuer of an unverified request; raises RefusedMessage."""
    try:
        return _text(element, f"{SAML}Issuer")
    except MalformedXml as error:
        raise RefusedMessage(Refusal.MALFORMED) from error


def _read(element: XmlElement) -> AuthenticationRequest:
    request_id, index = element.get("ID", ""), element.get("AssertionConsumerServiceIndex")
    if element.tag != AUTHN_REQUEST or element.get("Version") != "2.0":
        raise ValueError("expected an authentication request of SAML 2.0")
    if not 0 < len(request_id) <= _MAX_ID:
        raise ValueError(f"expected an ID of at most {_MAX_ID} characters")
    policy = element.find(f"{SAMLP}NameIDPolicy")
    context = element.find(f"{SAMLP}RequestedAuthnContext")
    return AuthenticationRequest(
        id=request_id,
        issuer=_text(element, f"{SAML}Issuer"),
        issued_at=instant(element.get("IssueInstant", "")),
        destination=element.get("Destination", ""),
        acs_url=element.get("AssertionConsumerServiceURL", ""),
        acs_index=None if index is None else int(index),
        binding=element.get("ProtocolBinding", ""),
        forces_authentication=_flag(element, "ForceAuthn"),
        is_passive=_flag(element, "IsPassive"),
        name_id_format="" if policy is None else policy.get("Format", ""),
        name_qualifier="" if policy is None else policy.get("SPNameQualifier", ""),
        contexts=None if context is None else _classes(context),
        comparison="" if context is None else context.get("Comparison", ""),
        subject=_text(element, f"{SAML}Subject/{SAML}NameID"),
    )


def _classes(context: XmlElement) -> tuple[str, ...]:
    found = context.findall(f"{SAML}AuthnContextClassRef")
    if len(found) > _MOST_CONTEXTS:
        raise ValueError(f"expected at most {_MOST_CONTEXTS} classes")
    return tuple(map(text_of, found))


def _text(element: XmlElement, path: str) -> str:
    found = element.findall(path)
    if len(found) > 1:
        raise MalformedXml("expected one element")
    return text_of(found[0]) if found else ""


def _flag(element: XmlElement, name: str) -> bool:
    value = element.get(name, "false")
    if value not in _TRUE | _FALSE:
        raise ValueError(f"{name}: expected a boolean")
    return value in _TRUE
