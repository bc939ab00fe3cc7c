"""Statuses of responses without an assertion: SAML 2.0 Core §3.2.2.2."""

from enum import Enum

from identity.authentication.requests.request import AuthorizationRequest, Prompt
from identity.foundation.errors import AccessDenied, ConsentRequired, InteractionRequired, ProtocolError

_STATUS = "urn:oasis:names:tc:SAML:2.0:status:"
_REQUESTER, _RESPONDER = f"{_STATUS}Requester", f"{_STATUS}Responder"


class Status(Enum):
    """The first and the second status code."""

    AUTHENTICATION_FAILED = (_RESPONDER, f"{_STATUS}AuthnFailed")
    REQUEST_DENIED = (_RESPONDER, f"{_STATUS}RequestDenied")
    NO_PASSIVE = (_RESPONDER, f"{_STATUS}NoPassive")
    NO_CONTEXT = (_RESPONDER, f"{_STATUS}NoAuthnContext")
    INVALID_NAME_ID_POLICY = (_REQUESTER, f"{_STATUS}InvalidNameIDPolicy")
    UNSUPPORTED_BINDING = (_REQUESTER, f"{_STATUS}UnsupportedBinding")


def status_of(request: AuthorizationRequest, error: ProtocolError) -> Status:
    """Return the status for an error of the sign-in."""
    if isinstance(error, AccessDenied):
        return Status.REQUEST_DENIED
    if isinstance(error, ConsentRequired) or Prompt.NONE in request.prompts:
        return Status.NO_PASSIVE
    if isinstance(error, InteractionRequired):
        return Status.NO_CONTEXT
    return Status.AUTHENTICATION_FAILED
