"""ScopeService."""

from collections.abc import Sequence

from gnomon.identity.v1 import scope_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.directory.labels import ScopeDefinition
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import Scope
from identity.people.labels import Labels
from identity.people.rpc.labels import Fields, LabelChanges
from identity.people.user_attributes import UserAttributes


class ScopeServicer(Operations):
    def __init__(
        self, admission: Admission, scopes: Labels[ScopeDefinition], attributes: UserAttributes
    ) -> None:
        self._scopes = scopes
        self._attributes = attributes
        changes = LabelChanges(
            labels=scopes, kind=ScopeDefinition, id_field="scope_id", checked=self._checked
        )
        super().__init__(
            admission,
            {
                pb.ListScopesRequest: self._all,
                pb.CreateScopeRequest: changes.create,
                pb.UpdateScopeRequest: changes.update,
                pb.DeleteScopeRequest: named(scopes.remove, label_id="scope_id"),
            },
        )

    async def _all(self, tenant: Tenant) -> Sequence[pb.Scope | ScopeDefinition]:
        standard = (pb.Scope(id=scope, name=scope) for scope in Scope)
        return *standard, *await self._scopes.all(tenant)

    async def _checked(self, tenant: Tenant, fields: Fields) -> Fields:
        opened = {
            name: await self._attributes.opened(tenant, fields[name])
            for name in ("attr_include_access", "attr_include_id")
        }
        return {**fields, **opened}
