"""Responses to the relying party by redirect: RFC 6749 §4.1.2, RFC 9207 §2."""

import re
from dataclasses import dataclass, field

from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.redirect_uris import is_registered
from identity.authentication.requests.request import AuthorizationRequest, ResponseMode
from identity.directory.client import Client
from identity.foundation.errors import ProtocolError
from identity.foundation.tenants import Tenant

MAX_STATE = 2048

# RFC 6749 §4.1.2.1: an error_description has no other characters.
_UNSPEAKABLE = re.compile(r"[^\x20-\x21\x23-\x5B\x5D-\x7E]")


@dataclass(frozen=True, slots=True)
class Redirection:
    """`parameters` may hold an authorization code."""

    uri: str
    response_mode: ResponseMode
    parameters: tuple[tuple[str, str], ...] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseTarget:
    """The redirect URI of a request. Every response carries `iss`, which prevents mix-up attacks."""

    issuer: str
    uri: str
    response_mode: ResponseMode
    state: str | None

    def with_code(self, code: str) -> Redirection:
        return self._redirection(("code", code))

    def with_error(self, error: ProtocolError) -> Redirection:
        description = _UNSPEAKABLE.sub(" ", error.detail)
        return self._redirection(("error", error.error), ("error_description", description))

    def _redirection(self, *parameters: tuple[str, str]) -> Redirection:
        state = () if self.state is None else (("state", self.state),)
        return Redirection(self.uri, self.response_mode, (*parameters, *state, ("iss", self.issuer)))


def way_back_of(request: AuthorizationRequest, tenant: Tenant) -> ResponseTarget:
    return ResponseTarget(
        issuer=tenant.issuer,
        uri=request.redirect_uri,
        response_mode=request.response_mode,
        state=request.state,
    )


def way_back_from(parameters: Parameters, client: Client, tenant: Tenant) -> ResponseTarget | None:
    """Return the redirect URI for an error response, also for an invalid request; None when the URI is invalid."""
    uri, state = parameters.one("redirect_uri"), parameters.one("state")
    if not is_registered(uri, client.redirect_uris):
        return None
    is_posted = parameters.one("response_mode") == ResponseMode.FORM_POST
    return ResponseTarget(
        issuer=tenant.issuer,
        uri=uri,
        response_mode=ResponseMode.FORM_POST if is_posted else ResponseMode.QUERY,
        state=state if 0 < len(state) <= MAX_STATE else None,
    )
