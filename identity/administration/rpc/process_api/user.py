"""UserService of the process API."""

from gnomon.directory.v1 import user_pb2 as entity_pb
from gnomon.directory.v1 import user_service_pb2 as pb
from identity.access.rpc.operations import Operations
from identity.access.rpc.process_api_caller import ProcessApiCallers
from identity.access.rpc.searches import response_of
from identity.directory.user import User
from identity.foundation.tenants import Tenant
from identity.people.searches import SEARCHABLE_USER
from identity.people.users_by_username import UsersByUsername
from server.platform.query import parse


class UserServicer(Operations):
    def __init__(self, api_callers: ProcessApiCallers, users: UsersByUsername) -> None:
        self._people = users.people
        super().__init__(
            api_callers,
            {
                pb.CreateUserRequest: users.create,
                pb.SearchUsersRequest: self._search,
                pb.GetUserRequest: users.people.get_by_username,
                pb.UpdateUserRequest: users.update,
                pb.DeleteUserRequest: users.delete,
            },
            shows={User: user_message},
        )

    async def _search(self, tenant: Tenant, request: pb.SearchUsersRequest) -> pb.SearchUsersResponse:
        page = await self._people.users.search(tenant.tenant_id, parse(SEARCHABLE_USER, request))
        return response_of(page, user_message, pb.SearchUsersResponse)


def user_message(user: User) -> entity_pb.User:
    return entity_pb.User(username=user.username, name=user.name, email=user.email or None)
