"""UserAttributeService."""

from collections.abc import Mapping, Sequence

from gnomon.identity.v1 import user_attribute_service_pb2 as pb
from identity.access.callers import Actor
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations
from identity.access.rpc.records import message_of
from identity.directory.labels import UserAttribute
from identity.directory.user import UserId
from identity.foundation.tenants import Tenant
from identity.people.user_attributes import UserAttributes
from server.platform.errors import InvalidArgument


class UserAttributeServicer(Operations):
    def __init__(self, admission: Admission, attributes: UserAttributes) -> None:
        self._attributes = attributes
        super().__init__(
            admission,
            {
                pb.ListUserAttributesRequest: attributes.all,
                pb.CreateUserAttributeRequest: attributes.create,
                pb.UpdateUserAttributeRequest: attributes.update,
                pb.DeleteUserAttributeRequest: attributes.remove,
                pb.GetUserAttributeValuesRequest: self._values,
                pb.ListEditableUserAttributesRequest: self._editable,
                pb.UpdateUserAttributeValuesRequest: self._update_values,
            },
            shows={UserAttribute: _message},
        )

    async def _editable(
        self, tenant: Tenant, request: pb.ListEditableUserAttributesRequest
    ) -> Sequence[UserAttribute]:
        return [each for each in await self._attributes.all(tenant) if each.user_editable]

    async def _values(self, tenant: Tenant, user_id: UserId) -> Sequence[pb.UserAttributeValue]:
        return _values(await self._attributes.of_user(tenant, user_id))

    async def _update_values(
        self, tenant: Tenant, request: pb.UpdateUserAttributeValuesRequest, actor: Actor
    ) -> Sequence[pb.UserAttributeValue]:
        values = {value.key: _text(value.value) for value in request.values}
        return _values(
            await self._attributes.set_of_user(tenant, UserId(request.user_id), values, actor=actor)
        )


def _text(value: bytes) -> str:
    try:
        return value.decode().strip()
    except UnicodeDecodeError as error:
        raise InvalidArgument("value: expected JSON in UTF-8") from error


def _values(values: Mapping[str, str]) -> Sequence[pb.UserAttributeValue]:
    return [pb.UserAttributeValue(key=name, value=text.encode()) for name, text in sorted(values.items())]


def _message(attribute: UserAttribute) -> pb.UserAttribute:
    return message_of(pb.UserAttribute, attribute, {"name": "id"}, desc=attribute.desc or None)
