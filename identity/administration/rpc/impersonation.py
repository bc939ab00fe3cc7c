"""ImpersonationService."""

from gnomon.identity.v1 import impersonation_service_pb2 as pb
from identity.access.callers import Actor
from identity.access.person import Person
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations
from identity.administration.impersonation import Impersonations
from identity.authentication.rpc.browser import browser_of, session_cookie, taken_back
from identity.directory.user import UserId
from identity.foundation.tenants import Tenant, Tenants
from server.platform.call import Call
from server.platform.clock import Clock


class ImpersonationServicer(Operations):
    def __init__(
        self, admission: Admission, tenants: Tenants, impersonations: Impersonations, clock: Clock
    ) -> None:
        self._tenants = tenants
        self._impersonations = impersonations
        self._clock = clock
        super().__init__(
            admission,
            {
                pb.GetSupportAccessRequest: self._get,
                pb.AllowSupportAccessRequest: self._allow,
                pb.WithdrawSupportAccessRequest: impersonations.withdraw,
                pb.StartImpersonationRequest: self._start,
            },
        )

    async def _get(self, tenant: Tenant, user_id: UserId) -> tuple[bool, int | None]:
        is_available, until = await self._impersonations.access(tenant, user_id)
        return is_available, None if until is None else int(until.timestamp())

    async def _allow(self, person: Person, hours: int) -> int:
        return int((await self._impersonations.allow(person, hours)).timestamp())

    async def _start(
        self, tenant: Tenant, user_id: UserId, actor: Actor, reason: str
    ) -> pb.StartImpersonationResponse:
        begun = await self._impersonations.start(tenant, user_id, actor, reason)
        session = begun.session
        return pb.StartImpersonationResponse(
            cookie=session_cookie(begun.cookie, session, self._clock, acting_as=begun.email),
            session_id=session.sid,
            expires_at=int((session.expires_at or session.idle_until).timestamp()),
        )

    async def stop_impersonation(
        self, request: pb.StopImpersonationRequest, _call: Call
    ) -> pb.StopImpersonationResponse:
        tenant = self._tenants.find(request.tenant_id)
        stopped = await self._impersonations.stop(tenant, browser_of(request.browser))
        own = stopped.session
        if not stopped.user_id:
            return pb.StopImpersonationResponse()
        cookie = taken_back() if own is None else session_cookie(stopped.cookie, own, self._clock)
        return pb.StopImpersonationResponse(cookie=cookie, user_id=stopped.user_id)
