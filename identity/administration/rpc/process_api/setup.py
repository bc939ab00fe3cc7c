"""SetupService of the process API."""

from gnomon.directory.v1 import setup_service_pb2 as pb
from identity.administration.rpc.process_api.user import created_user, user_message
from identity.people.first_administrator import FirstAdministrator
from server.platform.call import Call


class SetupServicer:
    def __init__(self, first_administrator: FirstAdministrator) -> None:
        self._first_administrator = first_administrator

    async def create_admin_user(
        self, request: pb.CreateAdminUserRequest, call: Call
    ) -> pb.CreateAdminUserResponse:
        created = await self._first_administrator.create(
            created_user(request), request.username, call.request_id
        )
        return pb.CreateAdminUserResponse(user=user_message(created))
