"""UserService of the process API."""

from gnomon.directory.v1 import setup_service_pb2 as setup_pb
from gnomon.directory.v1 import user_pb2 as entity_pb
from gnomon.directory.v1 import user_service_pb2 as pb
from identity.access.administrators import Administrators
from identity.access.callers import Actor
from identity.access.rpc.operations import Operations
from identity.access.rpc.process_api_caller import ProcessApiCallers
from identity.access.rpc.searches import response_of
from identity.directory.user import User
from identity.foundation.tenants import Tenant
from identity.people.searches import SEARCHABLE_USER
from identity.people.user_changes import UserChange
from identity.people.users import UserAdministration
from server.platform.audit import AuditNote
from server.platform.errors import InvalidArgument
from server.platform.query import parse


class UserServicer(Operations):
    def __init__(
        self, api_callers: ProcessApiCallers, users: UserAdministration, administrators: Administrators
    ) -> None:
        self._users = users
        self._administrators = administrators
        super().__init__(
            api_callers,
            {
                pb.CreateUserRequest: users.create,
                pb.SearchUsersRequest: self._search,
                pb.GetUserRequest: users.get_by_username,
                pb.UpdateUserRequest: self._update,
                pb.DeleteUserRequest: self._delete,
            },
            reads={UserChange: created_user},
            shows={User: user_message},
        )

    async def _search(self, tenant: Tenant, request: pb.SearchUsersRequest) -> pb.SearchUsersResponse:
        page = await self._users.users.search(tenant.tenant_id, parse(SEARCHABLE_USER, request))
        return response_of(page, user_message, pb.SearchUsersResponse)

    async def _update(
        self, tenant: Tenant, request: pb.UpdateUserRequest, actor: Actor, note: AuditNote
    ) -> User:
        user = await self._users.get_by_username(tenant, request.username)
        change = _changed(request, user)
        if change.password is not None or change.email is not None:
            await self._administrators.expect_may_take_over(user, actor)
        return await self._users.update(tenant, user.user_id, change, actor=actor, note=note)

    async def _delete(self, tenant: Tenant, username: str, actor: Actor, note: AuditNote) -> None:
        user = await self._users.get_by_username(tenant, username)
        await self._users.delete(tenant, user.user_id, actor, note=note)


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
        raise InvalidArgument("email: the address is the username of this user, which cannot be changed")
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
