"""UserService of the process API."""

from gnomon.directory.v1 import setup_service_pb2 as setup_pb
from gnomon.directory.v1 import user_pb2 as entity_pb
from gnomon.directory.v1 import user_service_pb2 as pb
from identity.access.administrators import Administrators
from identity.access.rpc.process_api_caller import ProcessApiCallers
from identity.access.rpc.searches import response_of
from identity.directory.user import User
from identity.people.searches import SEARCHABLE_USER
from identity.people.user_changes import UserChange
from identity.people.users import UserAdministration
from server.platform.call import Call
from server.platform.errors import InvalidArgument
from server.platform.query import parse


class UserServicer:
    def __init__(
        self,
        api_callers: ProcessApiCallers,
        administration: UserAdministration,
        administrators: Administrators,
    ) -> None:
        self._api_callers = api_callers
        self._administrators = administrators
        self._administration = administration

    async def create_user(self, request: pb.CreateUserRequest, call: Call) -> pb.CreateUserResponse:
        tenant, actor = self._api_callers.tenant(call), await self._api_callers.actor(call)
        created = await self._administration.create(
            tenant, created_user(request), actor, note=self._api_callers.note(call)
        )
        return pb.CreateUserResponse(user=user_message(created))

    async def search_users(self, request: pb.SearchUsersRequest, call: Call) -> pb.SearchUsersResponse:
        tenant, query = self._api_callers.tenant(call), parse(SEARCHABLE_USER, request)
        page = await self._administration.users.search(tenant.tenant_id, query)
        return response_of(page, user_message, pb.SearchUsersResponse)

    async def get_user(self, request: pb.GetUserRequest, call: Call) -> pb.GetUserResponse:
        user = await self._administration.get_by_username(self._api_callers.tenant(call), request.username)
        return pb.GetUserResponse(user=user_message(user))

    async def update_user(self, request: pb.UpdateUserRequest, call: Call) -> pb.UpdateUserResponse:
        tenant, actor = self._api_callers.tenant(call), await self._api_callers.actor(call)
        user = await self._administration.get_by_username(tenant, request.username)
        change = _changed(request, user)
        if change.password is not None or change.email is not None:
            await self._administrators.expect_may_take_over(user, actor)
        kept = await self._administration.update(
            tenant, user.user_id, change, actor=actor, note=self._api_callers.note(call)
        )
        return pb.UpdateUserResponse(user=user_message(kept))

    async def delete_user(self, request: pb.DeleteUserRequest, call: Call) -> pb.DeleteUserResponse:
        tenant, actor = self._api_callers.tenant(call), await self._api_callers.actor(call)
        user = await self._administration.get_by_username(tenant, request.username)
        await self._administration.delete(tenant, user.user_id, actor, note=self._api_callers.note(call))
        return pb.DeleteUserResponse()


def created_user(request: pb.CreateUserRequest | setup_pb.CreateAdminUserRequest) -> UserChange:
    """Return the account of a creation; a username with an @ is the address of the account, which has no other name."""
    is_address = "@" in request.username
    email = request.email or (request.username if is_address else "")
    if is_address and email != request.username:
        raise InvalidArgument(
            "username: expected the e-mail address or a name without @, found another address"
        )
    given_name, family_name = _names(request.name)
    return UserChange(
        email=email,
        preferred_username=None if is_address else request.username,
        given_name=given_name,
        family_name=family_name,
        password=request.password,
    )


def _changed(request: pb.UpdateUserRequest, user: User) -> UserChange:
    """Absent members change nothing, and neither does an empty password."""
    email = request.email if request.HasField("email") and request.email != user.email else None
    if email is not None and user.username == user.email:
        raise InvalidArgument("email: the address is the username of this user, which does not change")
    if email == "":
        raise InvalidArgument("email: expected an address, found none")
    names = _names(request.name) if request.HasField("name") else (None, None)
    return UserChange(
        email=email, given_name=names[0], family_name=names[1], password=request.password or None
    )


def _names(name: str) -> tuple[str, str]:
    """First and last name: the last word is the last name, if there are several."""
    *first, last = name.split() or [""]
    return (" ".join(first), last) if first else (last, "")


def user_message(user: User) -> entity_pb.User:
    return entity_pb.User(username=user.username, name=user.name, email=user.email or None)
