"""UserService."""

from collections.abc import Sequence
from datetime import UTC, datetime

from gnomon.identity.v1 import user_pb2
from gnomon.identity.v1 import user_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.access.rpc.records import record_of
from identity.directory.user import User
from identity.foundation.continuation import MOST_OF_A_PAGE, id_of, page_of
from identity.foundation.tenants import Tenant
from identity.people.rpc.people import user_message, values_of
from identity.people.searches import UserSearch
from identity.people.user_changes import NEVER_EXPIRES, NeverExpires, UserChange
from identity.people.users import UserAdministration


class UserServicer(Operations):
    def __init__(self, admission: Admission, users: UserAdministration) -> None:
        self._users = users
        super().__init__(
            admission,
            {
                pb.ListUsersRequest: self._page,
                pb.CreateUserRequest: named(users.create, change="fields"),
                pb.GetUserRequest: users.get,
                pb.GetUserByEmailRequest: users.get_by_email,
                pb.UpdateUserRequest: named(users.update, change="fields"),
                pb.DeleteUserRequest: users.delete,
            },
            names={"search": "text"},
            reads={UserChange: _change},
            shows={User: user_message},
        )

    async def _page(
        self, tenant: Tenant, wanted: UserSearch, page_size: int, continuation_token: str
    ) -> tuple[Sequence[User], str]:
        most, token = page_size or MOST_OF_A_PAGE, continuation_token
        if not wanted.is_everybody:
            return await self._users.search(tenant, wanted, token=token, most=most)
        found = await self._users.page(tenant, after=id_of(token), most=most + 1)
        return page_of(found, most, lambda user: user.id)


def _change(fields: user_pb2.UserFields) -> UserChange:
    values = fields.user_values
    return record_of(
        UserChange,
        fields,
        without=("user_values", "user_expires"),
        preferred_username=values.preferred_username if values.HasField("preferred_username") else None,
        values=values_of(values),
        valid_until=_end(fields),
    )


def _end(fields: user_pb2.UserFields) -> datetime | NeverExpires | None:
    if not fields.HasField("user_expires"):
        return None
    return datetime.fromtimestamp(fields.user_expires, UTC) if fields.user_expires else NEVER_EXPIRES
