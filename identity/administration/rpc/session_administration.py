"""SessionAdministrationService."""

from datetime import timedelta

from gnomon.identity.v1 import session_administration_service_pb2 as pb
from gnomon.identity.v1 import session_service_pb2
from identity.access.callers import Actor
from identity.access.rpc.admission import Admission
from identity.access.sessions.session import Session
from identity.administration.sessions import SessionAdministration
from identity.authentication.rpc.continuation import MOST_OF_A_PAGE, id_of, token_of
from identity.directory.user import UserId
from identity.foundation.vocabulary import AuthenticationContext
from server.platform.call import Call

_ONE_FACTOR = frozenset({AuthenticationContext.FEDERATED, AuthenticationContext.PASSWORD})


class SessionAdministrationServicer:
    def __init__(
        self, admission: Admission, administration: SessionAdministration, *, idle: timedelta
    ) -> None:
        self._admission = admission
        self._administration = administration
        self._idle = idle

    async def list_sessions(self, request: pb.ListSessionsRequest, _call: Call) -> pb.ListSessionsResponse:
        tenant, actor = await self._admission.of(request)
        page, last_id = await self._administration.page(
            tenant,
            is_signed_in=request.session_state != session_service_pb2.SESSION_STATE_INIT,
            after=id_of(request.continuation_token),
            most=request.page_size or MOST_OF_A_PAGE,
        )
        return pb.ListSessionsResponse(
            sessions=(self._message(session, actor) for session in page), continuation_token=token_of(last_id)
        )

    async def list_sessions_of_user(
        self, request: pb.ListSessionsOfUserRequest, _call: Call
    ) -> pb.ListSessionsOfUserResponse:
        tenant, actor = await self._admission.of(request)
        found = await self._administration.of_user(tenant, UserId(request.user_id))
        return pb.ListSessionsOfUserResponse(sessions=(self._message(session, actor) for session in found))

    async def end_session(self, request: pb.EndSessionRequest, _call: Call) -> pb.EndSessionResponse:
        tenant, actor = await self._admission.of(request)
        session = await self._administration.find(tenant, request.session_id)
        await self._administration.end(tenant, session, actor)
        return pb.EndSessionResponse()

    async def end_session_of_user(
        self, request: pb.EndSessionOfUserRequest, _call: Call
    ) -> pb.EndSessionOfUserResponse:
        tenant, actor = await self._admission.of(request)
        user_id = UserId(request.user_id)
        session = await self._administration.find_of_user(tenant, user_id, request.session_id)
        await self._administration.end(tenant, session, actor)
        return pb.EndSessionOfUserResponse()

    async def end_sessions_of_user(
        self, request: pb.EndSessionsOfUserRequest, _call: Call
    ) -> pb.EndSessionsOfUserResponse:
        tenant, actor = await self._admission.of(request)
        await self._administration.end_of_user(tenant, UserId(request.user_id), actor)
        return pb.EndSessionsOfUserResponse()

    async def end_all_sessions(
        self, request: pb.EndAllSessionsRequest, _call: Call
    ) -> pb.EndAllSessionsResponse:
        tenant, actor = await self._admission.of(request)
        await self._administration.end_all(tenant, actor)
        return pb.EndAllSessionsResponse()

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
        )
