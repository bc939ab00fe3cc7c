"""SessionAdministrationService."""

from collections.abc import Sequence
from datetime import timedelta

from gnomon.identity.v1 import session_administration_service_pb2 as pb
from gnomon.identity.v1 import session_service_pb2
from identity.access.callers import Actor
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations
from identity.access.sessions.session import Session
from identity.administration.sessions import SessionAdministration
from identity.administration.tenant_sign_out import TenantSignOut
from identity.directory.user import UserId
from identity.foundation.continuation import MOST_OF_A_PAGE, id_of, token_of
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import AuthenticationContext

_ONE_FACTOR = frozenset({AuthenticationContext.FEDERATED, AuthenticationContext.PASSWORD})
Listed = Sequence[pb.ListedSession]


class SessionAdministrationServicer(Operations):
    def __init__(
        self,
        admission: Admission,
        sessions: SessionAdministration,
        everybody: TenantSignOut,
        *,
        idle: timedelta,
    ) -> None:
        self._sessions = sessions
        self._everybody = everybody
        self._idle = idle
        super().__init__(
            admission,
            {
                pb.ListSessionsRequest: self._page,
                pb.ListSessionsOfUserRequest: self._of_user,
                pb.EndSessionRequest: self._end,
                pb.EndSessionOfUserRequest: self._end_of_user,
                pb.EndSessionsOfUserRequest: sessions.end_of_user,
                pb.EndAllSessionsRequest: everybody.begin,
                pb.GetSignOutProgressRequest: self._progress,
            },
        )

    async def _page(
        self, tenant: Tenant, request: pb.ListSessionsRequest, actor: Actor
    ) -> tuple[Listed, str]:
        page, last_id = await self._sessions.page(
            tenant,
            is_signed_in=request.session_state != session_service_pb2.SESSION_STATE_INIT,
            after=id_of(request.continuation_token),
            most=request.page_size or MOST_OF_A_PAGE,
        )
        return [self._message(session, actor) for session in page], token_of(last_id)

    async def _of_user(self, tenant: Tenant, user_id: UserId, actor: Actor) -> Listed:
        return [self._message(session, actor) for session in await self._sessions.of_user(tenant, user_id)]

    async def _end(self, tenant: Tenant, session_id: str, actor: Actor) -> None:
        await self._sessions.end(tenant, await self._sessions.find(tenant, session_id), actor)

    async def _end_of_user(self, tenant: Tenant, user_id: UserId, session_id: str, actor: Actor) -> None:
        session = await self._sessions.find_of_user(tenant, user_id, session_id)
        await self._sessions.end(tenant, session, actor)

    async def _progress(self, tenant: Tenant) -> tuple[int | None, int, int, int, int | None]:
        progress = await self._everybody.progress(tenant)
        begun_at, finished_at = progress.not_before, progress.finished_at
        return (
            None if begun_at is None else int(begun_at.timestamp()),
            progress.sessions_left,
            progress.sessions_ended,
            progress.token_sets_ended,
            None if finished_at is None else int(finished_at.timestamp()),
        )

    def _message(self, session: Session, actor: Actor) -> pb.ListedSession:
        authentication = session.authentication
        is_signed_in = authentication is not None
        return pb.ListedSession(
            id=session.sid,
            user_id=session.user_id or None,
            is_mfa=authentication is not None and authentication.acr not in _ONE_FACTOR,
            state=(
                session_service_pb2.SESSION_STATE_AUTH
                if is_signed_in
                else session_service_pb2.SESSION_STATE_INIT
            ),
            exp=int((session.expires_at or session.idle_until).timestamp()),
            last_seen=int((session.idle_until - self._idle).timestamp()),
            remote_ip=session.peer_address,
            signed_in_at=None if authentication is None else int(authentication.at.timestamp()),
            is_current=session.sid == actor.session,
            impersonator=session.impersonator_name or None,
        )
