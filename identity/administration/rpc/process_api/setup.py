"""SetupService of the process API."""

from gnomon.directory.v1 import setup_service_pb2 as pb
from identity.access.rpc.records import record_of
from identity.administration.rpc.process_api.user import user_message
from identity.people.first_administrator import FirstAdministrator
from identity.people.users_by_username import NewUser, account_of
from server.platform.call import Call


class SetupServicer:
    def __init__(self, first_administrator: FirstAdministrator) -> None:
        self._first_administrator = first_administrator

    async def create_admin_user(
        self, request: pb.CreateAdminUserRequest, call: Call
    ) -> pb.CreateAdminUserResponse:
        account = account_of(record_of(NewUser, request))
        created = await self._first_administrator.create(account, request.username, call.request_id)
        return pb.CreateAdminUserResponse(user=user_message(created))
