"""A verified assertion: SAML 2.0 Core §2, Profiles §4.1.4.2.

All functions read the element that `identity.crypto.xml.signatures` verified, and raise RefusedMessage.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from identity.authentication.saml.names import BEARER, SAML
from identity.authentication.saml.refusals import Refusal, RefusedMessage
from identity.authentication.saml.subjects import name_id_of
from identity.crypto.xml.documents import MalformedXml, XmlElement, text_of

_MAX_LIFETIME = timedelta(days=1)
_CONDITIONS = {f"{SAML}{name}" for name in ("AudienceRestriction", "OneTimeUse", "ProxyRestriction")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """Expected content of an assertion; `not_before` is the earliest authentication, None for any."""

    issuer: str
    audience: str
    recipient: str
    in_response_to: str
    now: datetime
    skew: timedelta
    not_before: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """`attributes` are the values by attribute name; after `until` the assertion would be refused as expired."""

    id: str
    name_id: str
    name_id_format: str
    session_index: str
    context_class: str
    attributes: dict[str, tuple[str, ...]]
    until: datetime


def read(element: XmlElement, expected: Expected, key: RSAPrivateKey) -> Assertion:
    """Check the assertion and return it; `key` decrypts an encrypted name of the user."""
    try:
        return _read(element, expected, key)
    except (MalformedXml, ValueError) as error:
        raise RefusedMessage(Refusal.MALFORMED) from error


def instant(text: str) -> datetime:
    """Read a time in UTC: Core §1.3.3. Raises ValueError."""
    if not text.endswith("Z"):
        raise ValueError("expected a time in UTC")
    return datetime.fromisoformat(text.removesuffix("Z")).replace(tzinfo=UTC)


def _read(element: XmlElement, expected: Expected, key: RSAPrivateKey) -> Assertion:
    if element.get("Version") != "2.0" or not element.get("ID"):
        raise RefusedMessage(Refusal.MALFORMED)
    expect_issuer(element, expected.issuer)
    if instant(element.get("IssueInstant", "")) > expected.now + expected.skew:
        raise RefusedMessage(Refusal.TIME)
    subject = _one(element, "Subject", Refusal.SUBJECT)
    until = _confirmed_until(subject, expected)
    _expect_conditions(_one(element, "Conditions", Refusal.AUDIENCE), expected)
    statement = _authenticated(element, expected)
    name_id = name_id_of(subject, key)
    context_class = statement.find(f"{SAML}AuthnContext/{SAML}AuthnContextClassRef")
    return Assertion(
        id=element.get("ID", ""),
        name_id=text_of(name_id),
        name_id_format=name_id.get("Format", ""),
        session_index=statement.get("SessionIndex", ""),
        context_class="" if context_class is None else text_of(context_class),
        attributes=_attributes(element),
        until=until + expected.skew,
    )


def expect_issuer(element: XmlElement, issuer: str) -> None:
    found = _one(element, "Issuer", Refusal.ISSUER)
    if text_of(found) != issuer:
        raise RefusedMessage(Refusal.ISSUER)


def _confirmed_until(subject: XmlElement, expected: Expected) -> datetime:
    """Expect a bearer confirmation for us, for this request and for the present time; returns its end."""
    refusal = RefusedMessage(Refusal.SUBJECT)
    for confirmation in subject.findall(f"{SAML}SubjectConfirmation"):
        data = confirmation.findall(f"{SAML}SubjectConfirmationData")
        if confirmation.get("Method") != BEARER or len(data) != 1:
            continue
        try:
            return _confirmation_end(data[0], expected)
        except RefusedMessage as refused:
            refusal = refused
    raise refusal


def _confirmation_end(data: XmlElement, expected: Expected) -> datetime:
    if data.get("Recipient") != expected.recipient:
        raise RefusedMessage(Refusal.RECIPIENT)
    if data.get("InResponseTo") != expected.in_response_to:
        raise RefusedMessage(Refusal.IN_RESPONSE_TO)
    # Profiles §4.1.4.2: the end is required, a beginning is not allowed.
    if "NotOnOrAfter" not in data.attrib or "NotBefore" in data.attrib:
        raise RefusedMessage(Refusal.TIME)
    end = instant(data.get("NotOnOrAfter", ""))
    if not expected.now - expected.skew < end <= expected.now + _MAX_LIFETIME:
        raise RefusedMessage(Refusal.TIME)
    return end


def _expect_conditions(conditions: XmlElement, expected: Expected) -> None:
    _expect_current(conditions, "NotOnOrAfter", expected)
    beginning = conditions.get("NotBefore")
    if beginning is not None and expected.now + expected.skew < instant(beginning):
        raise RefusedMessage(Refusal.TIME)
    # Core §2.5.1.1: an assertion with an unknown condition is not valid.
    if {str(condition.tag) for condition in conditions} - _CONDITIONS:
        raise RefusedMessage(Refusal.CONDITION)
    restrictions = conditions.findall(f"{SAML}AudienceRestriction")
    audiences = [
        {text_of(audience) for audience in restriction.findall(f"{SAML}Audience")}
        for restriction in restrictions
    ]
    if not audiences or not all(expected.audience in audience for audience in audiences):
        raise RefusedMessage(Refusal.AUDIENCE)


def _authenticated(element: XmlElement, expected: Expected) -> XmlElement:
    """Return the one authentication statement, of a session that has not ended."""
    statement = _one(element, "AuthnStatement", Refusal.AUTHENTICATION)
    _expect_current(statement, "SessionNotOnOrAfter", expected)
    at = instant(statement.get("AuthnInstant", ""))
    if at > expected.now + expected.skew:
        raise RefusedMessage(Refusal.TIME)
    if expected.not_before is not None and at < expected.not_before - expected.skew:
        raise RefusedMessage(Refusal.AUTHENTICATION)
    return statement


def _expect_current(element: XmlElement, end: str, expected: Expected) -> None:
    if end in element.attrib and expected.now - expected.skew >= instant(element.get(end, "")):
        raise RefusedMessage(Refusal.TIME)


def _attributes(element: XmlElement) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for attribute in element.findall(f"{SAML}AttributeStatement/{SAML}Attribute"):
        name = attribute.get("Name", "")
        found[name] = (*found.get(name, ()), *_values(attribute))
    return found


def _values(attribute: XmlElement) -> Sequence[str]:
    """Return the values that are text; a value of elements, like a persistent NameID, is the text of its one child."""
    values = attribute.findall(f"{SAML}AttributeValue")
    return [text_of(value[0]) if len(value) == 1 else text_of(value) for value in values]


def _one(element: XmlElement, name: str, refusal: Refusal) -> XmlElement:
    found = element.findall(f"{SAML}{name}")
    if len(found) != 1:
        raise RefusedMessage(refusal)
    return found[0]
