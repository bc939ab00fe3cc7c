"""The tenant of a request: by its path, else by its host."""

from aiohttp import web

from edge.oidc.access.refusal import Refused
from edge.oidc.prefix import PREFIX

_OF_HOST = web.RequestKey("tenant of the host", str)


def names_tenant(request: web.Request) -> bool:
    """Whether the path contains a tenant."""
    return "tenant" in request.match_info


def keep_tenant_of_host(request: web.Request, tenant: str) -> None:
    """Set the tenant of a request whose path contains none."""
    request[_OF_HOST] = tenant


def tenant_of(request: web.Request) -> str:
    """Return the tenant's id, empty for the default tenant; raises Refused for one that no message can hold."""
    tenant = request.match_info.get("tenant", "") or request.get(_OF_HOST, "")
    if not tenant.isascii():
        raise Refused(404, "NotFound", "there is no such tenant")
    return tenant


def issuer_path(request: web.Request) -> str:
    """Return the path of the tenant's issuer, without a final slash."""
    return f"{PREFIX}/{tenant_of(request)}" if names_tenant(request) else PREFIX
