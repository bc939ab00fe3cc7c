"""The tenant that an address names: in its path, or else by its host."""

from aiohttp import web

from edge.oidc.prefix import PREFIX
from edge.oidc.refusal import Refused

_OF_HOST = web.RequestKey("tenant of the host", str)


def names_tenant(request: web.Request) -> bool:
    """Whether the path does."""
    return "tenant" in request.match_info


def keep_tenant_of_host(request: web.Request, tenant: str) -> None:
    """Have a request whose path names no tenant be for this one."""
    request[_OF_HOST] = tenant


def tenant_of(request: web.Request) -> str:
    """Return its name, empty for the default tenant; raises Refused for what no message can hold."""
    tenant = request.match_info.get("tenant", "") or request.get(_OF_HOST, "")
    if not tenant.isascii():
        raise Refused(404, "NotFound", "there is no such tenant")
    return tenant


def issuer_path(request: web.Request) -> str:
    """Path below which the tenant's endpoints stand, without a slash at its end."""
    return f"{PREFIX}/{tenant_of(request)}" if names_tenant(request) else PREFIX
