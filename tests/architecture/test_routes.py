"""Every path of the two specifications is a route, or stands here as one that later work brings."""

import re

import pytest

from edge import contract
from edge.oidc.config import OidcConfig
from edge.oidc.endpoint import Endpoint
from edge.oidc.routes import routes as oidc_routes
from server.platform.channels import LocalChannel
from server.platform.dispatch import Dispatcher

ENGINE = [
    "POST /api/v1/user-tasks/search",
    "POST /api/v1/history/process-instances/search",
    "POST /v2/user-tasks/{key}/audit-logs/search",
    "GET /api/v1/history/process-definitions/{key}/flow-node-statistics",
    "GET /api/v1/console/deployments",
    "GET /api/v1/console/modeling/lint-rules",
    "POST /v2/jobs/{key}/failure",
    "POST /v2/process-instances/{processInstanceKey}/incidents/search",
    "GET /api/v1/console/startable-processes/{key}/form",
    "POST /v1/process-instances/{key}/cancellation",
    "GET /v2/variables/{variableKey}",
    "POST /v1/process-instances/{key}/migration",
    "POST /v2/process-instances/{processInstanceKey}/migration",
    "POST /v2/decision-definitions/search",
    "GET /v1/audit-log",
    "PUT /v2/clock",
    "POST /v2/clock/reset",
    "POST /v2/signals/broadcast",
    "PUT /v2/roles/{roleId}/groups/{groupId}",
    "DELETE /v2/tenants/{tenant}/mapping-rules/{mapping_rule}",
]

PROVIDER = [
    "GET /auth/v1/.well-known/openid-configuration",
    "GET /auth/v1/.well-known/oauth-authorization-server",
    "GET /.well-known/openid-configuration",
    "GET /.well-known/oauth-authorization-server",
    "GET /.well-known/oauth-authorization-server/auth/v1",
    "GET /.well-known/oauth-authorization-server/auth/v1/",
    "GET /auth/v1/{tenant}/.well-known/openid-configuration",
    "POST /auth/v1/oidc/token",
    "GET /auth/v1/oidc/certs",
    "GET /auth/v1/oidc/certs/{kid}",
    "GET /auth/v1/oidc/authorize",
    "POST /auth/v1/oidc/authorize",
    "POST /auth/v1/oidc/authorize/refresh",
    "POST /auth/v1/oidc/device",
    "POST /auth/v1/oidc/device/verify",
    "POST /auth/v1/oidc/introspect",
    "POST /auth/v1/oidc/token/revoke",
    "GET /auth/v1/oidc/userinfo",
    "POST /auth/v1/oidc/userinfo",
    "GET /auth/v1/oidc/forward_auth",
    "POST /auth/v1/oidc/forward_auth",
    "POST /auth/v1/oidc/rotate_jwk",
    "POST /auth/v1/oidc/session",
    "GET /auth/v1/oidc/sessioninfo",
    "GET /auth/v1/oidc/sessioninfo/xsrf",
    "GET /auth/v1/oidc/logout",
    "POST /auth/v1/oidc/logout",
    "POST /auth/v1/pow",
    "POST /auth/v1/users/{id}/mfa_token",
    "GET /auth/v1/sign-in",
    "GET /auth/v1/{tenant}/providers/{provider}/callback",
    "GET /auth/v1/providers/{provider}/callback",
    "GET /auth/v1/users/{id}/webauthn",
    "POST /auth/v1/users/{id}/webauthn/register/start",
    "POST /auth/v1/users/{id}/webauthn/register/finish",
    "POST /auth/v1/users/{id}/webauthn/auth/start",
    "POST /auth/v1/users/{id}/webauthn/auth/finish",
    "POST /auth/v1/users/webauthn_start",
    "POST /auth/v1/users/webauthn_finish",
    "DELETE /auth/v1/users/{id}/webauthn/delete/{name}",
    "POST /auth/v1/users/{id}/self/convert_passkey",
    "GET /auth/v1/clients/{id}/screens",
    "PUT /auth/v1/clients/{id}/screens",
    "POST /auth/v1/clients/{id}/screens/preview",
    "GET /.well-known/web-identity",
]

VARIABLE = re.compile(r"\{[^{}]*\}")


def shape(route: str) -> str:
    """The route without the names of its variables, which the specification and the contract choose apart."""
    return VARIABLE.sub("{}", route)


def engine_routes() -> set[str]:
    return {shape(f"{route.method} {route.path}") for route in contract.routes()}


def provider_routes() -> set[str]:
    channel = LocalChannel(Dispatcher({}, ()))
    found = set()
    for route in oidc_routes(channel, OidcConfig(), has_fed_cm=True):
        endpoint = getattr(route.handler, "__self__", None)
        assert isinstance(endpoint, Endpoint)
        if "{rest" not in route.path:
            found |= {shape(f"{method} {route.path}") for method in endpoint.handlers}
    return found


ENGINE_ROUTES, PROVIDER_ROUTES = engine_routes(), provider_routes()


@pytest.mark.parametrize("route", ENGINE)
def test_a_path_of_the_engine_is_a_route(route: str) -> None:
    assert shape(route) in ENGINE_ROUTES


@pytest.mark.parametrize("route", PROVIDER)
def test_a_path_of_the_provider_is_a_route(route: str) -> None:
    assert shape(route) in PROVIDER_ROUTES


def test_no_route_stands_twice() -> None:
    routes = [shape(f"{route.method} {route.path}") for route in contract.routes()]

    assert len(routes) == len(set(routes))
