"""TenantService."""

from collections.abc import Collection

from gnomon.identity.v1 import tenant_service_pb2 as pb
from identity.access.callers import Actor
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.access.rpc.records import message_of, record_of
from identity.administration.tenants.administration import TenantAdministration, TenantProperties
from identity.directory.tenants.settings import TenantSettings
from identity.directory.tenants.tenant_record import TenantRecord
from identity.foundation.tenants import Tenants
from identity.foundation.vocabulary import SecurityProfile
from server.platform.call import Call
from server.platform.errors import InvalidArgument

_NAMES = {
    "require_email_confirmation": "requires_email_confirmation",
    "security_profile": "profile",
    "search": "text",
}
_LATER = ("security_profile", "email_codes", "sign_in_notice", "support_role", "support_minutes")


class TenantServicer(Operations):
    def __init__(self, tenants: Tenants, admission: Admission, administration: TenantAdministration) -> None:
        self._tenants = tenants
        self._administration = administration
        super().__init__(
            admission,
            {
                pb.ListTenantsRequest: administration.page,
                pb.GetTenantRequest: named(administration.shown, tenant_id="id"),
                pb.CreateTenantRequest: named(self._create, tenant_id="id"),
                pb.UpdateTenantRequest: named(administration.change, tenant_id="id"),
                pb.DeleteTenantRequest: self._delete,
                pb.UpdateTenantSettingsRequest: self._update_settings,
            },
            names=_NAMES,
            reads={TenantSettings: _settings},
            shows={TenantRecord: self._message},
        )

    async def _create(
        self,
        tenant_id: str,
        properties: TenantProperties,
        settings: TenantSettings | None,
        actor: Actor,
    ) -> TenantRecord:
        return await self._administration.create(
            tenant_id, properties, settings or TenantSettings(), actor=actor
        )

    async def _delete(self, request: pb.DeleteTenantRequest, actor: Actor) -> None:
        if request.force:
            await self._administration.delete_with_users(request.id, actor=actor)
        else:
            await self._administration.delete(request.id, actor=actor)

    async def _update_settings(self, request: pb.UpdateTenantSettingsRequest, actor: Actor) -> TenantRecord:
        settings = _settings(request.settings)
        unset = _unset(request.settings)
        if unset:
            present = (await self._administration.get(request.id)).settings
            settings = settings.with_present(present, unset)
        return await self._administration.change_settings(request.id, settings, actor=actor)

    async def find_tenant_of_host(
        self, request: pb.FindTenantOfHostRequest, _call: Call
    ) -> pb.FindTenantOfHostResponse:
        return pb.FindTenantOfHostResponse(tenant_id=self._tenants.id_at(request.host) or "")

    def _message(self, record: TenantRecord) -> pb.Tenant:
        is_removed = record.deleted_at is not None
        return message_of(
            pb.Tenant,
            record,
            _NAMES,
            issuer=self._tenants.issuer_of(record.own_id, record.hostname),
            enabled=record.is_enabled and not is_removed,
            removal=_progress(record) if is_removed else None,
        )


def _progress(record: TenantRecord) -> pb.RemovalProgress:
    return message_of(
        pb.RemovalProgress, record, started_at=int(record.deleted_at.timestamp()) if record.deleted_at else 0
    )


def _unset(message: pb.TenantSettings) -> Collection[str]:
    """Return the settings that an edge of an earlier version does not know, and must not change."""
    present = {field.name for field, _ in message.ListFields()}
    return [name for name in _LATER if name not in present]


def _settings(message: pb.TenantSettings) -> TenantSettings:
    settings = record_of(
        TenantSettings,
        message,
        _NAMES,
        without=("security_profile",),
        # An unset field has the value of a new tenant.
        support_minutes=message.support_minutes or TenantSettings().support_minutes,
    )
    profile = message.security_profile or SecurityProfile.NONE
    try:
        return settings.with_profile(SecurityProfile(profile))
    except ValueError as error:
        raise InvalidArgument(str(error)) from error
