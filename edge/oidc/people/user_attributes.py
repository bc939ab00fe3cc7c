"""/users/{id}/attr: the custom attributes of a user."""

import msgspec
import orjson
from aiohttp import web

from edge.oidc.access.administration_calls import AdministrationCalls, tenant_and_id, written
from edge.oidc.access.body import read_json
from edge.oidc.openapi.operation import content, described
from edge.oidc.openapi.schemas import ANY, STRING, an_object, array
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import user_attribute_service_pb2 as pb


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
