"""Requests and responses of single logout, towards providers and applications: SAML 2.0 Core §3.7."""

from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from identity.authentication.saml.assertion import expect_issuer, instant
from identity.authentication.saml.names import SAML, SAMLP, SUCCESS, child, root, written
from identity.authentication.saml.refusals import Refusal, RefusedMessage
from identity.crypto.xml.documents import XmlElement, text_of

LOGOUT_REQUEST: Final = f"{SAMLP}LogoutRequest"
UNKNOWN_PRINCIPAL: Final = "urn:oasis:names:tc:SAML:2.0:status:UnknownPrincipal"

_REQUESTER: Final = "urn:oasis:names:tc:SAML:2.0:status:Requester"
LIFETIME = timedelta(minutes=5)


def current_until(
    request: XmlElement, *, issuer: str, destination: str, now: datetime, skew: timedelta
) -> datetime:
    """Return the time after which a verified request would be refused as expired; raises RefusedMessage, ValueError."""
    if request.tag != LOGOUT_REQUEST or request.get("Version") != "2.0" or not request.get("ID"):
        raise RefusedMessage(Refusal.MALFORMED)
    expect_issuer(request, issuer)
    if request.get("Destination") != destination:
        raise RefusedMessage(Refusal.DESTINATION)
    issued = instant(request.get("IssueInstant", ""))
    end = min(issued + LIFETIME, instant(request.get("NotOnOrAfter") or "9999-12-31T00:00:00Z"))
    if issued > now + skew or end + skew <= now:
        raise RefusedMessage(Refusal.TIME)
    return end + skew


def session_indexes_of(request: XmlElement) -> tuple[str, ...]:
    """Return the sessions that the request names, none for all of the user; raises RefusedMessage, MalformedXml."""
    indexes = tuple(text_of(index) for index in request.findall(f"{SAMLP}SessionIndex"))
    if not all(indexes):
        raise RefusedMessage(Refusal.SUBJECT)
    return indexes


def logout_response(
    request_id: str, *, issuer: str, destination: str, at: datetime, problem: str = ""
) -> XmlElement:
    """Return the response to a request; `problem` is the second status code of one that ended nothing."""
    attributes = {
        # One request has one answer, since its id is accepted once.
        "ID": f"_{sha256(request_id.encode()).hexdigest()}",
        "Version": "2.0",
        "IssueInstant": written(at),
        "Destination": destination,
        "InResponseTo": request_id,
    }
    element = root(f"{SAMLP}LogoutResponse", attributes)
    child(element, f"{SAML}Issuer", issuer)
    status = child(element, f"{SAMLP}Status")
    code = child(status, f"{SAMLP}StatusCode", Value=_REQUESTER if problem else SUCCESS)
    if problem:
        child(code, f"{SAMLP}StatusCode", Value=problem)
    return element
