"""TenantService."""

from typing import Protocol

from gnomon.identity.v1 import caller_pb2
from gnomon.identity.v1 import tenant_service_pb2 as pb
from identity.access.callers import Actor, AdministrationArea, Right
from identity.access.rpc.records import fields_of, message_of
from identity.administration.tenants.administration import TenantAdministration, TenantProperties
from identity.directory.tenants.settings import TenantSettings
from identity.directory.tenants.tenant_record import TenantRecord
from identity.foundation.events.event import EventActor
from identity.foundation.tenants import Tenant, Tenants
from identity.foundation.vocabulary import SecurityProfile
from server.platform.call import Call
from server.platform.errors import InvalidArgument, NotFound, Unauthenticated


class Callers(Protocol):
    async def expect(
        self, tenant: Tenant, caller: caller_pb2.Caller, area: AdministrationArea, right: Right
    ) -> Actor: ...


_NAMES = {"require_email_confirmation": "requires_email_confirmation"}


class TenantServicer:
    def __init__(self, tenants: Tenants, administration: TenantAdministration, callers: Callers) -> None:
        self._tenants = tenants
        self._administration = administration
        self._callers = callers

    async def list_tenants(self, request: pb.ListTenantsRequest, _call: Call) -> pb.ListTenantsResponse:
        await self._admit(request.caller, Right.READ)
        return pb.ListTenantsResponse(tenants=map(self._message, await self._administration.all()))

    async def get_tenant(self, request: pb.GetTenantRequest, _call: Call) -> pb.GetTenantResponse:
        await self._admit_to(request.id, request.caller, Right.READ)
        return pb.GetTenantResponse(tenant=self._message(await self._administration.get(request.id)))

    async def create_tenant(self, request: pb.CreateTenantRequest, _call: Call) -> pb.CreateTenantResponse:
        actor = await self._admit(request.caller, Right.CREATE)
        settings = _settings(request.settings) if request.HasField("settings") else TenantSettings()
        created = await self._administration.create(request.id, _wish(request), settings, actor=actor)
        return pb.CreateTenantResponse(tenant=self._message(created))

    async def update_tenant(self, request: pb.UpdateTenantRequest, _call: Call) -> pb.UpdateTenantResponse:
        actor = await self._admit(request.caller, Right.UPDATE)
        changed = await self._administration.change(request.id, _wish(request), actor=actor)
        return pb.UpdateTenantResponse(tenant=self._message(changed))

    async def delete_tenant(self, request: pb.DeleteTenantRequest, _call: Call) -> pb.DeleteTenantResponse:
        actor = await self._admit(request.caller, Right.DELETE)
        if request.force:
            await self._administration.delete_with_users(request.id, actor=actor)
        else:
            await self._administration.delete(request.id, actor=actor)
        return pb.DeleteTenantResponse()

    async def update_tenant_settings(
        self, request: pb.UpdateTenantSettingsRequest, _call: Call
    ) -> pb.UpdateTenantSettingsResponse:
        actor = await self._admit_to(request.id, request.caller, Right.UPDATE)
        settings = _settings(request.settings)
        if not request.settings.security_profile:
            # An edge of the version before does not know the profile, and must not end it.
            present = (await self._administration.get(request.id)).settings
            settings = settings.with_profile(present.profile)
        changed = await self._administration.change_settings(request.id, settings, actor=actor)
        return pb.UpdateTenantSettingsResponse(tenant=self._message(changed))

    async def find_tenant_of_host(
        self, request: pb.FindTenantOfHostRequest, _call: Call
    ) -> pb.FindTenantOfHostResponse:
        return pb.FindTenantOfHostResponse(tenant_id=self._tenants.id_at(request.host) or "")

    async def _admit_to(self, tenant_id: str, caller: caller_pb2.Caller, right: Right) -> EventActor:
        """Admit an administrator of the tenant, else one of the deployment; an unknown tenant gives the same error."""
        try:
            tenant = self._tenants.find(tenant_id)
            actor = await self._callers.expect(tenant, caller, AdministrationArea.TENANTS, right)
        except (NotFound, Unauthenticated):
            return await self._admit(caller, right)
        return EventActor(kind=actor.kind, id=actor.id, name=actor.name)

    async def _admit(self, caller: caller_pb2.Caller, right: Right) -> EventActor:
        # Only administrators of the deployment create, change and delete tenants.
        actor = await self._callers.expect(self._tenants.default, caller, AdministrationArea.TENANTS, right)
        return EventActor(kind=actor.kind, id=actor.id, name=actor.name)

    def _message(self, record: TenantRecord) -> pb.Tenant:
        settings = message_of(
            pb.TenantSettings, record.settings, _NAMES, security_profile=record.settings.profile
        )
        issuer = self._tenants.issuer_of(record.own_id, record.hostname)
        return message_of(pb.Tenant, record, issuer=issuer, settings=settings)


def _wish(request: pb.CreateTenantRequest | pb.UpdateTenantRequest) -> TenantProperties:
    return TenantProperties(name=request.name, hostname=request.hostname, is_enabled=request.enabled)


def _settings(message: pb.TenantSettings) -> TenantSettings:
    try:
        values = fields_of(message, TenantSettings, _NAMES, without=["security_profile"])
        profile = SecurityProfile(message.security_profile or SecurityProfile.NONE)
        return TenantSettings(**values).with_profile(profile)
    except ValueError as error:
        raise InvalidArgument(str(error)) from error
