"""The tenant that an address names."""

from aiohttp import web

from edge.oidc.entry import PREFIX
from edge.oidc.refusal import Refused


def tenant_of(request: web.Request) -> str:
    """Return its name, empty for the default tenant; raises Refused for what no message can hold."""
    tenant = request.match_info.get("tenant", "")
    if not tenant.isascii():
        raise Refused(404, "NotFound", "there is no such tenant")
    return tenant


def issuer_path(request: web.Request) -> str:
    """Path below which the tenant's endpoints stand, without a slash at its end."""
    tenant = tenant_of(request)
    return f"{PREFIX}/{tenant}" if tenant else PREFIX
