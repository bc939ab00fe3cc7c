"""TenantService."""

from dataclasses import replace

from gnomon.identity.v1 import tenant_service_pb2 as pb
from identity.access.callers import Actor
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.access.rpc.records import fields_of, message_of
from identity.administration.tenants.administration import TenantAdministration, TenantProperties
from identity.directory.tenants.settings import EmailCodes, SignInNotice, TenantSettings
from identity.directory.tenants.tenant_record import TenantRecord
from identity.foundation.tenants import Tenants
from identity.foundation.vocabulary import SecurityProfile
from server.platform.call import Call
from server.platform.errors import InvalidArgument

_NAMES = {"require_email_confirmation": "requires_email_confirmation"}
# Edges of earlier versions do not send these.
_LATER = ("security_profile", "email_codes", "sign_in_notice")


class TenantServicer(Operations):
    def __init__(self, tenants: Tenants, admission: Admission, administration: TenantAdministration) -> None:
        self._tenants = tenants
        self._administration = administration
        super().__init__(
            admission,
            {
                pb.ListTenantsRequest: administration.all,
                pb.GetTenantRequest: named(administration.get, tenant_id="id"),
                pb.CreateTenantRequest: self._create,
                pb.UpdateTenantRequest: named(administration.change, tenant_id="id"),
                pb.DeleteTenantRequest: self._delete,
                pb.UpdateTenantSettingsRequest: self._update_settings,
            },
            reads={TenantProperties: _properties},
            shows={TenantRecord: self._message},
        )

    async def _create(self, request: pb.CreateTenantRequest, actor: Actor) -> TenantRecord:
        settings = _settings(request.settings) if request.HasField("settings") else TenantSettings()
        return await self._administration.create(request.id, _properties(request), settings, actor=actor)

    async def _delete(self, request: pb.DeleteTenantRequest, actor: Actor) -> None:
        if request.force:
            await self._administration.delete_with_users(request.id, actor=actor)
        else:
            await self._administration.delete(request.id, actor=actor)

    async def _update_settings(self, request: pb.UpdateTenantSettingsRequest, actor: Actor) -> TenantRecord:
        sent, settings = request.settings, _settings(request.settings)
        if not (sent.security_profile and sent.email_codes and sent.sign_in_notice):
            # An edge of an earlier version does not know these settings, and must not change them.
            present = (await self._administration.get(request.id)).settings
            if not sent.security_profile:
                settings = settings.with_profile(present.profile)
            if not sent.email_codes:
                settings = replace(settings, email_codes=present.email_codes)
            if not sent.sign_in_notice:
                settings = replace(settings, sign_in_notice=present.sign_in_notice)
        return await self._administration.change_settings(request.id, settings, actor=actor)

    async def find_tenant_of_host(
        self, request: pb.FindTenantOfHostRequest, _call: Call
    ) -> pb.FindTenantOfHostResponse:
        return pb.FindTenantOfHostResponse(tenant_id=self._tenants.id_at(request.host) or "")

    def _message(self, record: TenantRecord) -> pb.Tenant:
        settings = message_of(
            pb.TenantSettings, record.settings, _NAMES, security_profile=record.settings.profile
        )
        issuer = self._tenants.issuer_of(record.own_id, record.hostname)
        return message_of(pb.Tenant, record, issuer=issuer, settings=settings)


def _properties(request: pb.CreateTenantRequest | pb.UpdateTenantRequest) -> TenantProperties:
    return TenantProperties(name=request.name, hostname=request.hostname, is_enabled=request.enabled)


def _settings(message: pb.TenantSettings) -> TenantSettings:
    try:
        values = fields_of(message, TenantSettings, _NAMES, without=_LATER)
        email_codes = EmailCodes(message.email_codes or EmailCodes.OFF)
        notice = SignInNotice(message.sign_in_notice or SignInNotice.NEW_DEVICE)
        profile = SecurityProfile(message.security_profile or SecurityProfile.NONE)
        settings = TenantSettings(**values, email_codes=email_codes, sign_in_notice=notice)
        return settings.with_profile(profile)
    except ValueError as error:
        raise InvalidArgument(str(error)) from error
