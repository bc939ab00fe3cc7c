"""A valid authorization request, stored while the user signs in."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from identity.directory.client import ClientId
from server.platform.records import Kind, Record


class ResponseMode(StrEnum):
    """OAuth 2.0 Multiple Response Type Encoding Practices §2.1, Form Post Response Mode §2."""

    QUERY = "query"
    FORM_POST = "form_post"


class Prompt(StrEnum):
    """OpenID Connect Core 1.0 §3.1.2.1, Initiating User Registration 1.0 §4."""

    NONE = "none"
    LOGIN = "login"
    CONSENT = "consent"
    SELECT_ACCOUNT = "select_account"
    CREATE = "create"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationRequest(Record):
    """`oauth_scopes` are the granted scopes; `claims` is the validated claims parameter, as JSON.

    `session_id` is the session in which the request began. With `requires_sign_in` an existing session does not
    suffice. Neither does one whose sign-in is older than `not_before`, or one of another user than `user_id` when that
    is given.
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


AUTHORIZATION_REQUESTS = Kind(AuthorizationRequest, "authorization_request", indexed=("session_id",))
