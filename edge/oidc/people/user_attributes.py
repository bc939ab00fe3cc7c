"""/users/attr: definitions of custom attributes; /users/{id}/attr: the attributes of a user."""

import msgspec
import orjson
from aiohttp import web

from edge.oidc.access.administration_calls import AdministrationCalls, members, tenant_and_id, written
from edge.oidc.access.body import read_json
from edge.oidc.access.tenant import tenant_of
from edge.oidc.openapi.operation import content, described, done
from edge.oidc.openapi.schemas import ANY, STRING, an_object, array, part
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import user_attribute_service_pb2 as pb


class _Attribute(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    desc: str | None = None
    user_editable: bool = False


class _Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    key: str
    value: msgspec.Raw


class _Values(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    values: tuple[_Value, ...]


class UserAttributesEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls) -> None:
        self._attributes = stubs.user_attributes
        self._calls = calls

    @described(
        "Lists the custom attributes of users.",
        content(an_object(values=part(pb.ListUserAttributesResponse, "values"))),
    )
    async def list(self, request: web.Request) -> web.Response:
        asked = pb.ListUserAttributesRequest(tenant_id=tenant_of(request), caller=self._calls.caller(request))
        found = await self._attributes.ListUserAttributes(asked, timeout=self._calls.timeout)
        return written({"values": list(map(members, found.values))})

    @described(
        "Creates a custom attribute.",
        content(part(pb.CreateUserAttributeResponse, "attribute")),
        body=_Attribute,
        refusals=(409,),
    )
    async def create(self, request: web.Request) -> web.Response:
        caller = self._calls.caller(request)
        sent = await read_json(request, _Attribute, max_bytes=self._calls.max_bytes)
        asked = pb.CreateUserAttributeRequest(
            tenant_id=tenant_of(request),
            caller=caller,
            name=sent.name,
            desc=sent.desc,
            user_editable=sent.user_editable,
        )
        created = await self._attributes.CreateUserAttribute(asked, timeout=self._calls.timeout)
        return written(members(created.attribute))

    @described(
        "Replaces a custom attribute.",
        content(part(pb.UpdateUserAttributeResponse, "attribute")),
        body=_Attribute,
        refusals=(409,),
    )
    async def update(self, request: web.Request) -> web.Response:
        (tenant_id, name), caller = tenant_and_id(request, "name"), self._calls.caller(request)
        sent = await read_json(request, _Attribute, max_bytes=self._calls.max_bytes)
        asked = pb.UpdateUserAttributeRequest(
            tenant_id=tenant_id,
            caller=caller,
            name=name,
            desc=sent.desc,
            user_editable=sent.user_editable,
            new_name=sent.name,
        )
        updated = await self._attributes.UpdateUserAttribute(asked, timeout=self._calls.long_timeout)
        return written(members(updated.attribute))

    @described("Deletes a custom attribute, and its values.", done())
    async def delete(self, request: web.Request) -> web.Response:
        tenant_id, name = tenant_and_id(request, "name")
        asked = pb.DeleteUserAttributeRequest(
            tenant_id=tenant_id, caller=self._calls.caller(request), name=name
        )
        await self._attributes.DeleteUserAttribute(asked, timeout=self._calls.long_timeout)
        return web.Response()

    @described(
        "Lists the values of custom attributes of a user.",
        content(an_object(values=array(an_object(key=STRING, value=ANY)))),
    )
    async def get_values(self, request: web.Request) -> web.Response:
        tenant_id, user_id = tenant_and_id(request)
        asked = pb.GetUserAttributeValuesRequest(
            tenant_id=tenant_id, caller=self._calls.caller(request), user_id=user_id
        )
        found = await self._attributes.GetUserAttributeValues(asked, timeout=self._calls.timeout)
        return _values_written(found)

    @described(
        "Lists the custom attributes that the user may change.",
        content(an_object(values=part(pb.ListEditableUserAttributesResponse, "values"))),
    )
    async def list_editable(self, request: web.Request) -> web.Response:
        tenant_id, user_id = tenant_and_id(request)
        asked = pb.ListEditableUserAttributesRequest(
            tenant_id=tenant_id, caller=self._calls.caller(request), user_id=user_id
        )
        found = await self._attributes.ListEditableUserAttributes(asked, timeout=self._calls.timeout)
        return written({"values": list(map(members, found.values))})

    @described(
        "Changes values of custom attributes of a user.",
        content(an_object(values=array(an_object(key=STRING, value=ANY)))),
        body=_Values,
    )
    async def update_values(self, request: web.Request) -> web.Response:
        (tenant_id, user_id), caller = tenant_and_id(request), self._calls.caller(request)
        sent = await read_json(request, _Values, max_bytes=self._calls.max_bytes)
        asked = pb.UpdateUserAttributeValuesRequest(
            tenant_id=tenant_id,
            caller=caller,
            user_id=user_id,
            values=(pb.UserAttributeValue(key=each.key, value=bytes(each.value)) for each in sent.values),
        )
        updated = await self._attributes.UpdateUserAttributeValues(asked, timeout=self._calls.timeout)
        return _values_written(updated)


def _values_written(
    found: pb.GetUserAttributeValuesResponse | pb.UpdateUserAttributeValuesResponse,
) -> web.Response:
    return written(
        {"values": [{"key": each.key, "value": orjson.Fragment(each.value)} for each in found.values]}
    )
