"""UserService."""

from datetime import UTC, datetime

from gnomon.identity.v1 import user_pb2
from gnomon.identity.v1 import user_service_pb2 as pb
from identity.admin.callers import Area, Right
from identity.admin.user_changes import NEVER_EXPIRES, NeverExpires, UserChange
from identity.admin.users import UserAdministration
from identity.directory.user import AccountType, User, UserId
from identity.rpc.admission import Admission
from identity.rpc.continuation import MOST_OF_A_PAGE, id_of, token_of
from server.platform.call import Call

# What people call them, and the claims that they are.
_VALUES = {
    "birthdate": "birthdate",
    "phone": "phone_number",
    "street": "street_address",
    "zip": "postal_code",
    "city": "locality",
    "country": "country",
    "tz": "zoneinfo",
}

_FEDERATED = frozenset({AccountType.FEDERATED, AccountType.FEDERATED_PASSKEY, AccountType.FEDERATED_PASSWORD})


class UserServicer:
    def __init__(self, admission: Admission, administration: UserAdministration) -> None:
        self._admission = admission
        self._administration = administration

    async def list_users(self, request: pb.ListUsersRequest, _call: Call) -> pb.ListUsersResponse:
        tenant, _ = await self._admission.of(request, Area.USERS, Right.READ)
        most = request.page_size or MOST_OF_A_PAGE
        # One more than is shown tells whether there is a next page.
        found = await self._administration.page(
            tenant, after=id_of(request.continuation_token), most=most + 1
        )
        page, has_more = found[:most], len(found) > most
        return pb.ListUsersResponse(
            users=map(_message, page), continuation_token=token_of(page[-1].id) if has_more else ""
        )

    async def create_user(self, request: pb.CreateUserRequest, _call: Call) -> pb.CreateUserResponse:
        tenant, actor = await self._admission.of(request, Area.USERS, Right.CREATE)
        created = await self._administration.create(tenant, _change(request.fields), actor)
        return pb.CreateUserResponse(user=_message(created))

    async def get_user(self, request: pb.GetUserRequest, _call: Call) -> pb.GetUserResponse:
        tenant, _ = await self._admission.of_self_or(request, Area.USERS, Right.READ)
        return pb.GetUserResponse(
            user=_message(await self._administration.get(tenant, UserId(request.user_id)))
        )

    async def get_user_by_email(
        self, request: pb.GetUserByEmailRequest, _call: Call
    ) -> pb.GetUserByEmailResponse:
        tenant, _ = await self._admission.of(request, Area.USERS, Right.READ)
        return pb.GetUserByEmailResponse(
            user=_message(await self._administration.get_by_email(tenant, request.email))
        )

    async def update_user(self, request: pb.UpdateUserRequest, _call: Call) -> pb.UpdateUserResponse:
        tenant, actor = await self._admission.of(request, Area.USERS, Right.UPDATE)
        updated = await self._administration.update(
            tenant, UserId(request.user_id), _change(request.fields), actor=actor
        )
        return pb.UpdateUserResponse(user=_message(updated))

    async def delete_user(self, request: pb.DeleteUserRequest, _call: Call) -> pb.DeleteUserResponse:
        tenant, actor = await self._admission.of(request, Area.USERS, Right.DELETE)
        await self._administration.delete(tenant, UserId(request.user_id), actor)
        return pb.DeleteUserResponse()


def _change(fields: user_pb2.UserFields) -> UserChange:
    values = fields.user_values
    return UserChange(
        email=fields.email if fields.HasField("email") else None,
        preferred_username=values.preferred_username if values.HasField("preferred_username") else None,
        given_name=fields.given_name if fields.HasField("given_name") else None,
        family_name=fields.family_name if fields.HasField("family_name") else None,
        language=fields.language if fields.HasField("language") else None,
        values={_VALUES[field.name]: text for field, text in values.ListFields() if field.name in _VALUES},
        password=fields.password if fields.HasField("password") else None,
        roles=tuple(fields.roles.names) if fields.HasField("roles") else None,
        groups=tuple(fields.groups.names) if fields.HasField("groups") else None,
        is_enabled=fields.enabled if fields.HasField("enabled") else None,
        is_email_verified=fields.email_verified if fields.HasField("email_verified") else None,
        valid_until=_end(fields),
    )


def _end(fields: user_pb2.UserFields) -> datetime | NeverExpires | None:
    if not fields.HasField("user_expires"):
        return None
    return datetime.fromtimestamp(fields.user_expires, UTC) if fields.user_expires else NEVER_EXPIRES


def _message(user: User) -> user_pb2.User:
    is_confirmed = not user.must_confirm_email
    return user_pb2.User(
        id=user.id,
        email=user.email,
        given_name=user.given_name or None,
        family_name=user.family_name or None,
        language=user.language,
        roles=user.roles,
        groups=user.groups,
        enabled=user.is_enabled,
        email_verified=user.is_email_verified,
        password_expires=_seconds(user.password_until),
        created_at=_seconds(user.created_at) or 0,
        last_login=_seconds(user.last_login_at),
        user_expires=_seconds(user.valid_until),
        account_type=user.account_type,
        user_values=user_pb2.UserValues(
            preferred_username=user.preferred_username or None,
            **{name: user.values.get(claim) for name, claim in _VALUES.items()},
        ),
        tenant_id=user.tenant_id,
        confirmation_state=(
            user_pb2.CONFIRMATION_STATE_CONFIRMED if is_confirmed else user_pb2.CONFIRMATION_STATE_UNCONFIRMED
        ),
        confirmed_at=_seconds(user.confirmed_at),
        created_by=_created_by(user),
    )


def _created_by(user: User) -> str:
    if user.is_self_registered:
        return "self"
    return "provider" if user.account_type in _FEDERATED else "admin"


def _seconds(at: datetime | None) -> int | None:
    return None if at is None else int(at.timestamp())
