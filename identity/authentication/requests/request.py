"""A valid authorization request, stored while the user signs in."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from identity.directory.authorization_details.details import Details
from identity.directory.client import ClientId
from server.platform.records import Kind, Owner, Record


class ResponseMode(StrEnum):
    """OAuth 2.0 Multiple Response Type Encoding Practices §2.1, Form Post Response Mode §2.

    The fragment is for signed responses only.
    """

    QUERY = "query"
    FORM_POST = "form_post"
    FRAGMENT = "fragment"


class SignedResponseMode(StrEnum):
    """JWT Secured Authorization Response Mode for OAuth 2.0 (JARM) §2.3."""

    QUERY = "query.jwt"
    FRAGMENT = "fragment.jwt"
    FORM_POST = "form_post.jwt"

    @property
    def unsigned(self) -> ResponseMode:
        """The response mode by which the JWT is sent."""
        return ResponseMode(self.removesuffix(".jwt"))


# JARM §2.3.4: the default of the response type, which is the query for a code.
_SIGNED = "jwt"

RESPONSE_MODES = (ResponseMode.QUERY, ResponseMode.FORM_POST, _SIGNED, *SignedResponseMode)
"""All values of the parameter."""


def signed_mode_of(parameter: str) -> SignedResponseMode | None:
    """Return the mode that the parameter names, None for a response that is not signed."""
    if parameter == _SIGNED:
        return SignedResponseMode.QUERY
    return next((mode for mode in SignedResponseMode if mode == parameter), None)


class Prompt(StrEnum):
    """OpenID Connect Core 1.0 §3.1.2.1, Initiating User Registration 1.0 §4."""

    NONE = "none"
    LOGIN = "login"
    CONSENT = "consent"
    SELECT_ACCOUNT = "select_account"
    CREATE = "create"


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlRequest:
    """Content of an authentication request that its response repeats or meets: SAML 2.0 Core §3.4.1.

    `contexts` are the requested classes of authentication contexts, best first; without any each is accepted.
    """

    id: str
    name_id_format: str
    contexts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationRequest(Record):
    """`oauth_scopes` are the granted scopes; `claims` is the validated claims parameter, as JSON.

    `session_id` is the session in which the request began. With `requires_sign_in` an existing session does not
    suffice. Neither does one whose sign-in is older than `not_before`, or one of another user than `user_id` when that
    is given. `pushed_id` is the id of the pushed request with the parameters. With a `signed_response_mode` the response
    is a JWT; `response_mode` is how a program that does not know it responds. A request with `saml` came from a SAML
    application: its `redirect_uri` is the assertion consumer service, and its `state` the RelayState.
    """

    client_id: ClientId
    redirect_uri: str
    response_mode: ResponseMode = ResponseMode.QUERY
    oauth_scopes: tuple[str, ...] = ()
    state: str | None = None
    nonce: str = ""
    code_challenge: str = ""
    resources: tuple[str, ...] = ()
    claims: str = ""
    acr_values: tuple[str, ...] = ()
    login_hint: str = ""
    ui_locales: tuple[str, ...] = ()
    dpop_jkt: str = ""
    session_id: str = ""
    prompts: tuple[Prompt, ...] = ()
    user_id: str = ""
    requires_sign_in: bool = False
    max_age: int | None = None
    not_before: datetime | None = None
    pushed_id: str = ""
    signed_response_mode: SignedResponseMode | None = None
    authorization_details: Details = ()
    saml: SamlRequest | None = None


AUTHORIZATION_REQUESTS = Kind(
    AuthorizationRequest,
    "authorization_request",
    indexed=("session_id",),
    owners=(
        Owner("client", "client_id"),
        Owner("user", "user_id"),
    ),
    outlives=(
        "session_id",
        "pushed_id",
    ),
)
