"""Parameters of a logout request: OpenID Connect RP-Initiated Logout 1.0 §2.

A session ends only with a valid `id_token_hint` or after the user confirms. The browser is redirected only to a URI
that the client registered.
"""

from dataclasses import dataclass
from typing import Protocol

from identity.access.sessions.hints import Hint, IdTokenHints
from identity.authentication.requests.parameters import Parameters
from identity.directory.client import Client
from identity.foundation.errors import InvalidRequest, InvalidToken
from identity.foundation.tenants import Tenant

_MAX_STATE = 2048


class Clients(Protocol):
    async def find(self, tenant: Tenant, client_id: str) -> Client | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedLogout:
    """`redirect_uri` is registered for the client, or empty; `user_id` is the subject of the hint, empty without one.

    `screen_client_id` is the client that the request itself names; its screens are shown.
    """

    client: Client | None
    redirect_uri: str
    state: str | None
    user_id: str
    screen_client_id: str


class LogoutRequestReader:
    def __init__(self, clients: Clients, hints: IdTokenHints) -> None:
        self._clients = clients
        self._hints = hints

    async def read(self, tenant: Tenant, parameters: Parameters) -> RequestedLogout:
        """Raises InvalidRequest for a malformed or contradictory request."""
        state = parameters.one("state")
        if parameters.are_malformed or len(state) > _MAX_STATE:
            raise InvalidRequest("a parameter is repeated, too long or contains NUL")
        hint = await self._hint(tenant, parameters.one("id_token_hint"))
        client_id = parameters.one("client_id")
        if hint is not None and client_id not in {"", hint.client_id}:
            raise InvalidRequest("client_id is not the client of id_token_hint")
        client = await self._client(tenant, hint.client_id if hint is not None else client_id)
        is_doubtful = hint is None and bool(parameters.all("id_token_hint"))
        redirect_uri = "" if is_doubtful else _registered(client, parameters.one("post_logout_redirect_uri"))
        return RequestedLogout(
            client=client,
            redirect_uri=redirect_uri,
            state=state or None,
            # The user is asked when the hint is invalid or the redirect URI is not registered.
            user_id=hint.user_id if hint is not None and _is_answered(parameters, redirect_uri) else "",
            screen_client_id=client_id if client is not None else "",
        )

    async def _hint(self, tenant: Tenant, token: str) -> Hint | None:
        try:
            return await self._hints.read(token, tenant) if token else None
        except InvalidToken:
            return None

    async def _client(self, tenant: Tenant, client_id: str) -> Client | None:
        client = await self._clients.find(tenant, client_id) if client_id else None
        return client if client is not None and client.is_enabled else None


def _registered(client: Client | None, redirect_uri: str) -> str:
    return redirect_uri if client is not None and redirect_uri in client.post_logout_redirect_uris else ""


def _is_answered(parameters: Parameters, redirect_uri: str) -> bool:
    return bool(redirect_uri) or not parameters.all("post_logout_redirect_uri")
