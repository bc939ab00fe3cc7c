"""The provider's own clients in each tenant: its pages and its administration console.

They are ordinary relying parties with S256 and a nonce. They request only the scope `openid`, because the permissions
of their users come from the session.
"""

from collections.abc import Sequence

from identity.directory.client import Client
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import AuthenticationMethod, GrantType, Scope

PAGES_CLIENT_ID = "gnomon-pages"
CONSOLE_CLIENT_ID = "gnomon-console"

# Administrators cannot change these clients.
OWN_CLIENT_IDS = frozenset({PAGES_CLIENT_ID, CONSOLE_CLIENT_ID})


def own_clients(tenant: Tenant) -> Sequence[Client]:
    """Return them with redirect URIs below the issuer."""
    return (
        _public(
            tenant,
            PAGES_CLIENT_ID,
            "Your account",
            redirect_uris=tuple(
                f"{tenant.issuer}{page}" for page in ("device", "sign-in", "account", "sign-in-requests")
            ),
        ),
        _public(
            tenant,
            CONSOLE_CLIENT_ID,
            "Administration console",
            redirect_uris=(f"{tenant.issuer}admin/callback",),
            post_logout_redirect_uris=(f"{tenant.issuer}admin/",),
        ),
    )


def _public(
    tenant: Tenant,
    client_id: str,
    name: str,
    *,
    redirect_uris: tuple[str, ...],
    post_logout_redirect_uris: tuple[str, ...] = (),
) -> Client:
    return Client(
        tenant_id=tenant.tenant_id,
        id=client_id,
        name=name,
        token_endpoint_auth_method=AuthenticationMethod.NONE,
        oauth_scopes=(Scope.OPENID,),
        default_scopes=(Scope.OPENID,),
        grant_types=frozenset({GrantType.AUTHORIZATION_CODE}),
        redirect_uris=redirect_uris,
        post_logout_redirect_uris=post_logout_redirect_uris,
    )
