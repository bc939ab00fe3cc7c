"""The client of the provider's own pages, for which people sign in like for any relying party; one of each tenant."""

from identity.clients.client import Client
from identity.tenants import Tenant
from identity.vocabulary import AuthenticationMethod, GrantType, Scope

PAGES_CLIENT_ID = "gnomon-pages"


def page_client(tenant: Tenant) -> Client:
    return Client(
        tenant_id=tenant.tenant_id,
        id=PAGES_CLIENT_ID,
        name="Your account",
        token_endpoint_auth_method=AuthenticationMethod.NONE,
        oauth_scopes=(Scope.OPENID,),
        default_scopes=(Scope.OPENID,),
        grant_types=frozenset({GrantType.AUTHORIZATION_CODE}),
        redirect_uris=(f"{tenant.issuer}device",),
    )
