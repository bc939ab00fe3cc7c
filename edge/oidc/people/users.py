"""POST /users and PATCH /users/{id}, whose bodies are not the fields of a user. All else is in user_service.proto."""

from collections.abc import Mapping

import msgspec
import orjson
from aiohttp import web
from google.protobuf.descriptor import MethodDescriptor

from edge.oidc.access.administration_calls import AdministrationCalls, tenant_and_id, written
from edge.oidc.access.body import bad_request, out_of_bounds, read_json
from edge.oidc.access.message_json import MessageJson, Rules, members
from edge.oidc.access.tenant import tenant_of
from edge.oidc.openapi.operation import content, described
from edge.oidc.openapi.schemas import part
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import user_pb2
from gnomon.identity.v1 import user_service_pb2 as pb
from gnomon.rest.v1 import options_pb2

_USER = part(pb.GetUserResponse, "user")
_OF_ACCOUNT = frozenset({"enabled", "email_verified"})
_UPDATE: MethodDescriptor = pb.DESCRIPTOR.services_by_name["UserService"].methods_by_name["UpdateUser"]
_VALUES = "user_values"


def _removing() -> Mapping[str, object]:
    """Return the values that remove members, by the keys of PATCH: those that PUT has for absent members."""
    (route,) = _UPDATE.GetOptions().Extensions[options_pb2.method].issuer_routes
    absent = orjson.loads(route.body.absent)
    values = {f"{_VALUES}.{name}": text for name, text in absent.pop(_VALUES).items()}
    return {**absent, **values}


_REMOVING = _removing()


class _NewUser(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """POST /users."""

    tz: str | None = None


_NEW = MessageJson(
    user_pb2.UserFields,
    _NewUser,
    name="NewUser",
    fields=[each for each in user_pb2.UserFields.DESCRIPTOR.fields if each.name not in _OF_ACCOUNT],
    rules=Rules(
        required=frozenset({"email"}),
        not_null=frozenset({"language", "roles"}),
        absent={"language": "en", "roles": (), "groups": ()},
    ),
)


class _Changed(msgspec.Struct, forbid_unknown_fields=True):
    pass


_CHANGED = MessageJson(user_pb2.UserFields, _Changed, name="ChangedUser")


class Put(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    key: str
    value: object


class UserPatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """PATCH /users/{id}."""

    put: tuple[Put, ...] = ()
    deleted: tuple[str, ...] = msgspec.field(default=(), name="del")

    def message(self) -> user_pb2.UserFields:
        """Raises Refused."""
        if not set(self.deleted) <= set(_REMOVING):
            raise bad_request(f"del: expected some of {', '.join(_REMOVING)}")
        changes = {put.key: put.value for put in self.put} | {key: _REMOVING[key] for key in self.deleted}
        try:
            return _CHANGED.read(msgspec.convert(_nested(changes), _CHANGED.body))
        except msgspec.ValidationError as error:
            expected = "put: expected members of a user with values of their types"
            raise out_of_bounds(error, within="put: ") or bad_request(expected) from error


class UsersEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls) -> None:
        self._users = stubs.users
        self._calls = calls

    @described("Creates a user.", content(_USER), body=_NEW.body, refusals=(409,))
    async def create(self, request: web.Request) -> web.Response:
        caller = self._calls.caller(request)
        new = await read_json(request, _NEW.body, max_bytes=self._calls.max_bytes)
        asked = pb.CreateUserRequest(tenant_id=tenant_of(request), caller=caller, fields=_NEW.read(new))
        if new.tz is not None:
            asked.fields.user_values.tz = new.tz
        created = await self._users.CreateUser(asked, timeout=self._calls.long_timeout)
        return written(members(created.user))

    @described("Changes members of a user.", content(_USER), body=UserPatch, refusals=(409,))
    async def patch(self, request: web.Request) -> web.Response:
        (tenant_id, user_id), caller = tenant_and_id(request), self._calls.caller(request)
        sent = await read_json(request, UserPatch, max_bytes=self._calls.max_bytes)
        asked = pb.UpdateUserRequest(
            tenant_id=tenant_id, caller=caller, user_id=user_id, fields=sent.message()
        )
        updated = await self._users.UpdateUser(asked, timeout=self._calls.long_timeout)
        return written(members(updated.user))


def _nested(changes: Mapping[str, object]) -> dict[str, object]:
    prefix = f"{_VALUES}."
    own = {key: value for key, value in changes.items() if not key.startswith(prefix)}
    values = {key.removeprefix(prefix): value for key, value in changes.items() if key.startswith(prefix)}
    return {**own, _VALUES: values} if values else own
