"""An authorization request that was found good, kept while its person signs in."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from identity.clients.client import ClientId
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
    """`oauth_scopes` are those that are granted; `claims` is the claims parameter as it came, JSON that was found good.

    `session_id` is the session that it began in. With `requires_sign_in` a session that is there already is not enough;
    one that signed in before `not_before` is not either, nor one of another user than `user_id` when that is given.
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
