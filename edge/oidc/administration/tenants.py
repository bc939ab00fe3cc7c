"""/auth/v1/tenants: administration of the deployment's tenants; schemas are in tenant_service.proto."""

from typing import Annotated, Literal

import msgspec
from aiohttp import web

from edge.oidc.access.administration_calls import written
from edge.oidc.access.body import bad_request, read_json
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.callers import caller_of
from edge.oidc.access.refusal import Refused
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import content, described, done, may
from edge.oidc.openapi.schemas import (
    BOOLEAN,
    INTEGER,
    STRING,
    an_object,
    answer_of,
    array,
    choice,
    titled,
    with_any,
)
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import caller_pb2
from gnomon.identity.v1 import tenant_service_pb2 as pb


class _SignIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    email_first: str = "auto"


class _Registration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    require_email_confirmation: bool | Literal["on", "off"] = True
    confirmation_link_hours: Annotated[int, msgspec.Meta(ge=1, le=168)] = 24
    unconfirmed_account_days: Annotated[int, msgspec.Meta(ge=0, le=3650)] = 30
    default_groups: tuple[str, ...] = ()


class _Clients(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    security_profile: str = "none"


class _Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sign_in: _SignIn = _SignIn()
    registration: _Registration = _Registration()
    clients: _Clients = _Clients()

    @property
    def message(self) -> pb.TenantSettings:
        registration = self.registration
        return pb.TenantSettings(
            email_first=self.sign_in.email_first,
            require_email_confirmation=registration.require_email_confirmation in {True, "on"},
            confirmation_link_hours=registration.confirmation_link_hours,
            unconfirmed_account_days=registration.unconfirmed_account_days,
            default_groups=registration.default_groups,
            security_profile=self.clients.security_profile,
        )


class _Change(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str = ""
    hostname: str | None = None
    enabled: bool = True


class _New(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    name: str = ""
    hostname: str | None = None
    enabled: bool = True
    settings: _Settings = _Settings()


_SETTINGS = titled("TenantSettings", answer_of(_Settings))
_TENANT = with_any(
    an_object(id=STRING, name=STRING, enabled=BOOLEAN, issuer=STRING, created_at=INTEGER, settings=_SETTINGS),
    hostname=STRING,
)


class TenantsEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers) -> None:
        self._tenants = stubs.tenants
        self._config = config
        self._timeout = config.call_timeout_seconds
        self._browsers = browsers

    @described("Lists the tenants of the deployment.", content(array(_TENANT)))
    async def list(self, request: web.Request) -> web.Response:
        asked = pb.ListTenantsRequest(caller=self._caller(request))
        found = await self._tenants.ListTenants(asked, timeout=self._timeout)
        return written([_members(tenant) for tenant in found.tenants])

    @described("Creates a tenant.", content(_TENANT, status=201), body=_New, refusals=(409,))
    async def create(self, request: web.Request) -> web.Response:
        caller, new = self._caller(request), await read_json(request, _New, max_bytes=self._max_bytes)
        asked = pb.CreateTenantRequest(
            caller=caller,
            id=new.id,
            name=new.name,
            hostname=new.hostname or "",
            enabled=new.enabled,
            settings=new.settings.message,
        )
        created = await self._tenants.CreateTenant(asked, timeout=self._timeout)
        return written(_members(created.tenant), status=201)

    @described("A tenant.", content(_TENANT))
    async def get(self, request: web.Request) -> web.Response:
        asked = pb.GetTenantRequest(caller=self._caller(request), id=_id(request))
        return written(_members((await self._tenants.GetTenant(asked, timeout=self._timeout)).tenant))

    @described("Replaces a tenant.", content(_TENANT), body=_Change, refusals=(409,))
    async def update(self, request: web.Request) -> web.Response:
        caller, change = self._caller(request), await read_json(request, _Change, max_bytes=self._max_bytes)
        asked = pb.UpdateTenantRequest(
            caller=caller,
            id=_id(request),
            name=change.name,
            hostname=change.hostname or "",
            enabled=change.enabled,
        )
        changed = await self._tenants.UpdateTenant(asked, timeout=self._timeout)
        return written(_members(changed.tenant))

    @described(
        "Deletes a tenant.",
        done(204),
        query=(
            may(
                "force",
                "Whether to delete a tenant that has users or process instances.",
                choice("true", "false"),
            ),
        ),
        refusals=(409,),
    )
    async def delete(self, request: web.Request) -> web.Response:
        """Delete a tenant; with `?force=true` together with its users."""
        force = request.query.get("force", "false")
        if force not in {"true", "false"}:
            raise bad_request("force: expected true or false")
        asked = pb.DeleteTenantRequest(caller=self._caller(request), id=_id(request), force=force == "true")
        await self._tenants.DeleteTenant(asked, timeout=self._config.long_call_timeout_seconds)
        return web.Response(status=204)

    @described("The settings of a tenant.", content(_SETTINGS))
    async def get_settings(self, request: web.Request) -> web.Response:
        """Return the settings, also to an administrator of the tenant."""
        asked = pb.GetTenantRequest(caller=caller_of(request, self._browsers), id=_id(request))
        return written(_settings((await self._tenants.GetTenant(asked, timeout=self._timeout)).tenant))

    @described("Replaces the settings of a tenant.", content(_SETTINGS), body=_Settings, refusals=(409,))
    async def update_settings(self, request: web.Request) -> web.Response:
        caller = caller_of(request, self._browsers)
        sent = await read_json(request, _Settings, max_bytes=self._max_bytes)
        asked = pb.UpdateTenantSettingsRequest(caller=caller, id=_id(request), settings=sent.message)
        changed = await self._tenants.UpdateTenantSettings(asked, timeout=self._timeout)
        return written(_settings(changed.tenant))

    def _caller(self, request: web.Request) -> caller_pb2.Caller:
        """Return the caller; raises Refused at addresses of other tenants than the default one."""
        if tenant_of(request):
            raise Refused(403, "Forbidden", "the caller may not do this")
        return caller_of(request, self._browsers)

    @property
    def _max_bytes(self) -> int:
        return self._config.max_form_bytes


def _id(request: web.Request) -> str:
    tenant_id = request.match_info["id"]
    if not tenant_id.isascii():
        raise Refused(404, "NotFound", "there is no such tenant")
    return tenant_id


def _members(tenant: pb.Tenant) -> dict[str, object]:
    hostname = {"hostname": tenant.hostname} if tenant.hostname else {}
    return {
        "id": tenant.id,
        "name": tenant.name,
        "enabled": tenant.enabled,
        **hostname,
        "issuer": tenant.issuer,
        "created_at": tenant.created_at,
        "settings": _settings(tenant),
    }


def _settings(tenant: pb.Tenant) -> dict[str, object]:
    settings = tenant.settings
    return {
        "sign_in": {"email_first": settings.email_first},
        "registration": {
            "require_email_confirmation": settings.require_email_confirmation,
            "confirmation_link_hours": settings.confirmation_link_hours,
            "unconfirmed_account_days": settings.unconfirmed_account_days,
            "default_groups": list(settings.default_groups),
        },
        "clients": {"security_profile": settings.security_profile or "none"},
    }
