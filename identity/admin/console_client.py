"""The client that the administration console signs people in for: fixed, one of each tenant.

It is a relying party like any other: authorization code with S256 and a nonce, and no scope beyond `openid`, since what
its people may do comes of their session.
"""

from identity.clients.client import Client
from identity.tenancy.page_client import PAGES_CLIENT_ID
from identity.tenants import Tenant
from identity.vocabulary import AuthenticationMethod, GrantType, Scope

CONSOLE_CLIENT_ID = "gnomon-console"

# Those that come with the provider and that nobody changes.
PROVIDER_CLIENT_IDS = frozenset({PAGES_CLIENT_ID, CONSOLE_CLIENT_ID})


def console_client(tenant: Tenant) -> Client:
    return Client(
        tenant_id=tenant.tenant_id,
        id=CONSOLE_CLIENT_ID,
        name="Administration console",
        token_endpoint_auth_method=AuthenticationMethod.NONE,
        oauth_scopes=(Scope.OPENID,),
        default_scopes=(Scope.OPENID,),
        grant_types=frozenset({GrantType.AUTHORIZATION_CODE}),
        redirect_uris=(f"{tenant.issuer}admin/callback",),
        post_logout_redirect_uris=(f"{tenant.issuer}admin/",),
    )
