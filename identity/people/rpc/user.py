"""UserService."""

from datetime import UTC, datetime

from gnomon.identity.v1 import user_pb2
from gnomon.identity.v1 import user_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.records import fields_of
from identity.authentication.rpc.continuation import MOST_OF_A_PAGE, id_of, token_of
from identity.directory.user import UserId
from identity.people.rpc.people import user_message, values_of
from identity.people.searches import UserSearch
from identity.people.user_changes import NEVER_EXPIRES, NeverExpires, UserChange
from identity.people.users import UserAdministration
from server.platform.call import Call


class UserServicer:
    def __init__(self, admission: Admission, administration: UserAdministration) -> None:
        self._admission = admission
        self._administration = administration

    async def list_users(self, request: pb.ListUsersRequest, _call: Call) -> pb.ListUsersResponse:
        tenant, _ = await self._admission.of(request)
        most = request.page_size or MOST_OF_A_PAGE
        search = _search(request)
        if not search.is_everybody:
            users, token = await self._administration.search(
                tenant, search, token=request.continuation_token, most=most
            )
            return pb.ListUsersResponse(users=map(user_message, users), continuation_token=token)
        # One more than shown, to know whether there is a next page.
        found = await self._administration.page(
            tenant, after=id_of(request.continuation_token), most=most + 1
        )
        page, has_more = found[:most], len(found) > most
        return pb.ListUsersResponse(
            users=map(user_message, page), continuation_token=token_of(page[-1].id) if has_more else ""
        )

    async def create_user(self, request: pb.CreateUserRequest, _call: Call) -> pb.CreateUserResponse:
        tenant, actor = await self._admission.of(request)
        created = await self._administration.create(tenant, _change(request.fields), actor)
        return pb.CreateUserResponse(user=user_message(created))

    async def get_user(self, request: pb.GetUserRequest, _call: Call) -> pb.GetUserResponse:
        tenant, _ = await self._admission.of(request)
        return pb.GetUserResponse(
            user=user_message(await self._administration.get(tenant, UserId(request.user_id)))
        )

    async def get_user_by_email(
        self, request: pb.GetUserByEmailRequest, _call: Call
    ) -> pb.GetUserByEmailResponse:
        tenant, _ = await self._admission.of(request)
        return pb.GetUserByEmailResponse(
            user=user_message(await self._administration.get_by_email(tenant, request.email))
        )

    async def update_user(self, request: pb.UpdateUserRequest, _call: Call) -> pb.UpdateUserResponse:
        tenant, actor = await self._admission.of(request)
        updated = await self._administration.update(
            tenant, UserId(request.user_id), _change(request.fields), actor=actor
        )
        return pb.UpdateUserResponse(user=user_message(updated))

    async def delete_user(self, request: pb.DeleteUserRequest, _call: Call) -> pb.DeleteUserResponse:
        tenant, actor = await self._admission.of(request)
        await self._administration.delete(tenant, UserId(request.user_id), actor)
        return pb.DeleteUserResponse()


def _search(request: pb.ListUsersRequest) -> UserSearch:
    return UserSearch(
        text=request.search,
        group=request.group,
        role=request.role,
        sort=request.sort,
        is_descending=request.is_descending,
    )


def _change(fields: user_pb2.UserFields) -> UserChange:
    values = fields.user_values
    return UserChange(
        **fields_of(fields, UserChange, without=["user_values", "user_expires"]),
        preferred_username=values.preferred_username if values.HasField("preferred_username") else None,
        values=values_of(values),
        valid_until=_end(fields),
    )


def _end(fields: user_pb2.UserFields) -> datetime | NeverExpires | None:
    if not fields.HasField("user_expires"):
        return None
    return datetime.fromtimestamp(fields.user_expires, UTC) if fields.user_expires else NEVER_EXPIRES
