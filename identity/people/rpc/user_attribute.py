"""UserAttributeService."""

from collections.abc import Iterator, Mapping

from gnomon.identity.v1 import user_attribute_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.directory.labels import UserAttribute
from identity.directory.user import UserId
from identity.people.user_attributes import UserAttributes
from server.platform.call import Call
from server.platform.errors import InvalidArgument


class UserAttributeServicer:
    def __init__(self, admission: Admission, attributes: UserAttributes) -> None:
        self._admission = admission
        self._attributes = attributes

    async def list_user_attributes(
        self, request: pb.ListUserAttributesRequest, _call: Call
    ) -> pb.ListUserAttributesResponse:
        tenant, _ = await self._admission.of(request)
        return pb.ListUserAttributesResponse(values=map(_message, await self._attributes.all(tenant)))

    async def create_user_attribute(
        self, request: pb.CreateUserAttributeRequest, _call: Call
    ) -> pb.CreateUserAttributeResponse:
        tenant, actor = await self._admission.of(request)
        attribute = UserAttribute(
            tenant_id=tenant.tenant_id,
            id=request.name,
            desc=request.desc,
            user_editable=request.user_editable,
        )
        created = await self._attributes.add(attribute, actor)
        return pb.CreateUserAttributeResponse(attribute=_message(created))

    async def update_user_attribute(
        self, request: pb.UpdateUserAttributeRequest, _call: Call
    ) -> pb.UpdateUserAttributeResponse:
        tenant, actor = await self._admission.of(request)
        after = UserAttribute(
            tenant_id=tenant.tenant_id,
            id=request.new_name or request.name,
            desc=request.desc,
            user_editable=request.user_editable,
        )
        changed = await self._attributes.change(tenant, request.name, after=after, actor=actor)
        return pb.UpdateUserAttributeResponse(attribute=_message(changed))

    async def delete_user_attribute(
        self, request: pb.DeleteUserAttributeRequest, _call: Call
    ) -> pb.DeleteUserAttributeResponse:
        tenant, actor = await self._admission.of(request)
        await self._attributes.remove(tenant, request.name, actor)
        return pb.DeleteUserAttributeResponse()

    async def get_user_attribute_values(
        self, request: pb.GetUserAttributeValuesRequest, _call: Call
    ) -> pb.GetUserAttributeValuesResponse:
        tenant, _ = await self._admission.of(request)
        values = await self._attributes.of_user(tenant, UserId(request.user_id))
        return pb.GetUserAttributeValuesResponse(values=_values(values))

    async def list_editable_user_attributes(
        self, request: pb.ListEditableUserAttributesRequest, _call: Call
    ) -> pb.ListEditableUserAttributesResponse:
        tenant, _ = await self._admission.of(request)
        editable = (each for each in await self._attributes.all(tenant) if each.user_editable)
        return pb.ListEditableUserAttributesResponse(values=map(_message, editable))

    async def update_user_attribute_values(
        self, request: pb.UpdateUserAttributeValuesRequest, _call: Call
    ) -> pb.UpdateUserAttributeValuesResponse:
        tenant, actor = await self._admission.of(request)
        values = {value.key: _text(value.value) for value in request.values}
        kept = await self._attributes.set_of_user(tenant, UserId(request.user_id), values, actor=actor)
        return pb.UpdateUserAttributeValuesResponse(values=_values(kept))


def _text(value: bytes) -> str:
    try:
        return value.decode().strip()
    except UnicodeDecodeError as error:
        raise InvalidArgument("value: expected JSON in UTF-8") from error


def _values(values: Mapping[str, str]) -> Iterator[pb.UserAttributeValue]:
    return (pb.UserAttributeValue(key=name, value=text.encode()) for name, text in sorted(values.items()))


def _message(attribute: UserAttribute) -> pb.UserAttribute:
    return pb.UserAttribute(
        name=attribute.id, desc=attribute.desc or None, user_editable=attribute.user_editable
    )
