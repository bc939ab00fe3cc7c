"""Parses and validates the parameters of an authorization request."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from identity.access.sessions.hints import IdTokenHints
from identity.authentication.requests.check_input import Asking, Check
from identity.authentication.requests.checks import CHECKS
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.refusals import RedirectedRefusal, UnredirectableRefusal
from identity.authentication.requests.request import AuthorizationRequest
from identity.authentication.requests.response_targets import ResponseTargets
from identity.authentication.requests.sources import ParameterSource, resolved
from identity.directory.authorization_details.detail_types import DetailTypes
from identity.directory.client import Client
from identity.directory.subjects import Subjects, UnknownSubject
from identity.foundation.errors import InvalidRequest, InvalidToken, LoginRequired, ProtocolError
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock


class Clients(Protocol):
    async def find(self, tenant: Tenant, client_id: str) -> Client | None: ...


class RequestReader:
    def __init__(
        self,
        clients: Clients,
        hints: IdTokenHints,
        subjects: Subjects,
        *,
        details: DetailTypes,
        sources: Sequence[ParameterSource],
        targets: ResponseTargets,
        clock: Clock,
        checks: Sequence[Check] = CHECKS,
    ) -> None:
        self._clients = clients
        self._hints = hints
        self._subjects = subjects
        self._details = details
        self._sources = sources
        self._targets = targets
        self._clock = clock
        self._checks = checks

    async def read(self, tenant: Tenant, parameters: Parameters) -> tuple[Client, AuthorizationRequest]:
        """Return the client and a valid request, which is not stored yet; raises NoWayBack or SentBack."""
        client = await self._client(tenant, parameters)
        try:
            parameters = await resolved(self._sources, tenant, client, parameters=parameters)
            return client, await self.examine(tenant, client, parameters)
        except ProtocolError as refusal:
            response_target = await self._targets.of_refused(tenant, client, parameters)
            if response_target is None:
                raise UnredirectableRefusal(refusal) from refusal
            raise RedirectedRefusal(response_target.with_error(refusal)) from refusal

    async def examine(self, tenant: Tenant, client: Client, parameters: Parameters) -> AuthorizationRequest:
        """Return the request that the parameters describe; raises a ProtocolError."""
        calls = Asking(tenant=tenant, client=client, parameters=parameters, now=self._clock.now())
        request = AuthorizationRequest(
            tenant_id=tenant.tenant_id,
            id="",
            client_id=client.client_id,
            redirect_uri="",
            pushed_id=parameters.pushed_id,
        )
        for check in self._checks:
            request = check(calls, request)
        request = replace(
            request,
            user_id=self._user_id(tenant, client, request.user_id),
            authorization_details=await self._details.asked(
                tenant, client, parameters.one("authorization_details")
            ),
        )
        return await self._for_hinted_user(tenant, parameters.one("id_token_hint"), request)

    def _user_id(self, tenant: Tenant, client: Client, subject: str) -> str:
        """Return the user of the subject that the claims parameter names, empty without one."""
        try:
            return self._subjects.user_of(tenant, client, subject) if subject else ""
        except UnknownSubject as error:
            raise LoginRequired("claims names a subject that the client does not have") from error

    async def _client(self, tenant: Tenant, parameters: Parameters) -> Client:
        client_id = parameters.one("client_id")
        client = await self._clients.find(tenant, client_id) if client_id else None
        if client is None or not client.is_enabled:
            raise UnredirectableRefusal(InvalidRequest("client_id is missing, or there is no such client"))
        return client

    async def _for_hinted_user(
        self, tenant: Tenant, id_token_hint: str, request: AuthorizationRequest
    ) -> AuthorizationRequest:
        if not id_token_hint:
            return request
        try:
            hint = await self._hints.read(id_token_hint, tenant)
        except InvalidToken as error:
            raise InvalidRequest("id_token_hint is not an ID token of this provider") from error
        if request.user_id not in {"", hint.user_id}:
            raise LoginRequired("id_token_hint and claims name different users")
        return replace(request, user_id=hint.user_id)
