"""Responses to the relying party by redirect: RFC 6749 §4.1.2, RFC 9207 §2."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from identity.authentication.requests.request import ResponseMode
from identity.foundation.errors import ProtocolError

MAX_STATE = 2048

# RFC 6749 §4.1.2.1: an error_description has no other characters.
_UNSPEAKABLE = re.compile(r"[^\x20-\x21\x23-\x5B\x5D-\x7E]")

# Returns the parameters of a response as a JWT.
Signer = Callable[[Mapping[str, str]], str]


@dataclass(frozen=True, slots=True)
class Redirection:
    """`parameters` may hold an authorization code."""

    uri: str
    response_mode: ResponseMode
    parameters: tuple[tuple[str, str], ...] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseTarget:
    """The redirect URI of a request. Every response carries `iss`, which prevents mix-up attacks.

    With a `signer` the parameters travel as a JWT: JARM §2.
    """

    issuer: str
    uri: str
    response_mode: ResponseMode
    state: str | None
    signer: Signer | None = None

    def with_code(self, code: str, *, session_state: str = "") -> Redirection:
        """`session_state` is that of OpenID Connect Session Management 1.0 §2, empty without one."""
        watched = (("session_state", session_state),) if session_state else ()
        return self._redirection(("code", code), *watched)

    def with_error(self, error: ProtocolError) -> Redirection:
        description = _UNSPEAKABLE.sub(" ", error.detail)
        return self._redirection(("error", error.error), ("error_description", description))

    def _redirection(self, *parameters: tuple[str, str]) -> Redirection:
        state = () if self.state is None else (("state", self.state),)
        answered = (*parameters, *state, ("iss", self.issuer))
        sent = answered if self.signer is None else (("response", self.signer(dict(answered))),)
        return Redirection(self.uri, self.response_mode, sent)
