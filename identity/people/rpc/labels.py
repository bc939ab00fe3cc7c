"""Creation and change of labels, whose fields have one name in requests and records."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from google.protobuf.message import Message

from identity.access.callers import Actor
from identity.access.rpc.records import fields_of
from identity.directory.labels import Label
from identity.foundation.tenants import Tenant
from identity.people.labels import Labels

L = TypeVar("L", bound=Label)

Fields = Mapping[str, Any]
_OF_CALLER = ("tenant_id", "caller")


async def _unchecked(_tenant: Tenant, fields: Fields) -> Fields:
    return fields


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelChanges(Generic[L]):
    """`id_field` of a request has the id of the label, and `names` are names that differ in requests and records.

    A change keeps fields that its request does not set. `checked` returns valid fields, or raises InvalidArgument.
    """

    labels: Labels[L]
    kind: type[L]
    id_field: str
    names: Mapping[str, str] = field(default_factory=dict)
    checked: Callable[[Tenant, Fields], Awaitable[Fields]] = _unchecked

    async def create(self, tenant: Tenant, request: Message, actor: Actor) -> L:
        fields = await self._fields(tenant, request)
        return await self.labels.add(tenant, self.kind(tenant_id=tenant.tenant_id, id="", **fields), actor)

    async def update(self, tenant: Tenant, request: Message, actor: Actor) -> L:
        fields, label_id = await self._fields(tenant, request), getattr(request, self.id_field)
        return await self.labels.change(
            tenant, label_id, actor, changed=lambda before: replace(before, **fields)
        )

    async def _fields(self, tenant: Tenant, request: Message) -> Fields:
        unset = [
            each.name
            for each in request.DESCRIPTOR.fields
            if each.has_presence and not request.HasField(each.name)
        ]
        found = fields_of(request, self.kind, self.names, without=(*_OF_CALLER, self.id_field, *unset))
        return await self.checked(tenant, found)
