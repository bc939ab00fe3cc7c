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
from server.platform.audit import AuditNote

L = TypeVar("L", bound=Label)

Fields = Mapping[str, Any]
_OF_CALLER = ("tenant_id", "caller")

# Names of fields of searches that differ in requests.
OF_SEARCHES = {"search": "text"}


async def _unchecked(_tenant: Tenant, fields: Fields) -> Fields:
    return fields


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelChanges(Generic[L]):
    """`id_field` of a request has the id of the label, and `names` are names that differ in requests and records.

    A change keeps lists that its request does not have. `checked` returns valid fields, or raises InvalidArgument. With
    `find` the id is that by which it finds the label.
    """

    labels: Labels[L]
    kind: type[L]
    id_field: str
    names: Mapping[str, str] = field(default_factory=dict)
    checked: Callable[[Tenant, Fields], Awaitable[Fields]] = _unchecked
    find: Callable[[Tenant, str], Awaitable[L]] | None = None

    async def create(
        self, tenant: Tenant, request: Message, actor: Actor, *, note: AuditNote | None = None
    ) -> L:
        fields = await self._fields(tenant, request)
        new = self.kind(tenant_id=tenant.tenant_id, id="", **fields)
        return await self.labels.add(tenant, new, actor, note=note)

    async def update(
        self, tenant: Tenant, request: Message, actor: Actor, *, note: AuditNote | None = None
    ) -> L:
        label_id = await self._id(tenant, request)
        fields = await self._fields(tenant, request)

        def changed(before: L) -> L:
            return replace(before, **fields)

        return await self.labels.change(tenant, label_id, actor, changed=changed, note=note)

    async def remove(
        self, tenant: Tenant, request: Message, actor: Actor, *, note: AuditNote | None = None
    ) -> None:
        await self.labels.remove(tenant, await self._id(tenant, request), actor, note=note)

    async def _id(self, tenant: Tenant, request: Message) -> str:
        given = getattr(request, self.id_field)
        return given if self.find is None else (await self.find(tenant, given)).id

    async def _fields(self, tenant: Tenant, request: Message) -> Fields:
        without = [*_OF_CALLER, *(() if self.id_field in self.names else (self.id_field,))]
        without += [
            each.name
            for each in request.DESCRIPTOR.fields
            if each.message_type is not None and not request.HasField(each.name)
        ]
        found = fields_of(request, self.kind, self.names, without=without)
        return await self.checked(tenant, found)
