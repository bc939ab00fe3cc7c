"""The authorization request that a later step of the sign-in continues.

Callers without a page send the parameters again. If they match the request of a page that is open in the session, that
request applies. A caller therefore gains nothing by omitting `prompt` or `max_age` the second time.
"""

from dataclasses import dataclass

from identity.access.sessions.session import Session
from identity.authentication.authorization.pending_requests import PendingRequests
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.pushed import PushedRequests
from identity.authentication.requests.refusals import RedirectedRefusal, UnredirectableRefusal
from identity.authentication.requests.request import AuthorizationRequest
from identity.authentication.requests.request_reader import Clients, RequestReader
from identity.directory.client import Client
from identity.foundation.tenants import Tenant
from server.platform.errors import InvalidArgument, Unauthenticated


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Identifies a request by the id in its page, or by its parameters when the id is empty."""

    authorization_id: str
    parameters: Parameters


class AskedRequests:
    def __init__(
        self, reader: RequestReader, clients: Clients, pending: PendingRequests, pushed: PushedRequests
    ) -> None:
        self._reader = reader
        self._clients = clients
        self._pending = pending
        self._pushed = pushed

    async def find(
        self, tenant: Tenant, session: Session, reference: Reference
    ) -> tuple[Client, AuthorizationRequest]:
        """Raises Unauthenticated when there is no such request or client, InvalidArgument for an invalid request."""
        if not reference.authorization_id:
            return await self._read(tenant, session, reference.parameters)
        request = await self._pending.find(session, reference.authorization_id)
        if request is None:
            raise Unauthenticated(
                "the authorization request has ended or is of another session", cause="SESSION_ENDED"
            )
        return await self.client(tenant, request), request

    async def client(self, tenant: Tenant, request: AuthorizationRequest) -> Client:
        """Return the client of the request; raises Unauthenticated when it was removed or disabled."""
        client = await self._clients.find(tenant, request.client_id)
        if client is None or not client.is_enabled:
            raise Unauthenticated(
                "the client of the authorization request was removed or disabled", cause="SESSION_ENDED"
            )
        return client

    async def take(self, tenant: Tenant, request: AuthorizationRequest) -> None:
        """Use the request up, also a pushed one; raises Unauthenticated when another caller did before."""
        # A request without an id is not stored: its caller has no page.
        is_first = not request.id or await self._pending.take(request)
        if is_first and request.pushed_id:
            is_first = await self._pushed.use_up(tenant, request.pushed_id)
        if not is_first:
            raise Unauthenticated("the authorization request has ended", cause="SESSION_ENDED")

    async def _read(
        self, tenant: Tenant, session: Session, parameters: Parameters
    ) -> tuple[Client, AuthorizationRequest]:
        try:
            client, request = await self._reader.read(tenant, parameters)
        except UnredirectableRefusal as refusal:
            raise Unauthenticated(refusal.refusal.detail) from refusal
        except RedirectedRefusal as refusal:
            raise InvalidArgument("the parameters are not a valid authorization request") from refusal
        return client, await self._pending.like(session, request) or request
