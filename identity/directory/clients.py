"""Look-up of clients, as seen by the provider of a tenant, with the rules of their security profiles.

A profile is a set of rules for a client as a whole: FAPI 2.0 Security Profile §5.3.2, FAPI 2.0 Message Signing
§5.3 and §5.4. The rules are settings of a client that is looked up, so that every endpoint applies them. They
come from its record or from its tenant, and never make a client less strict. The provider's own pages have no profile:
their clients are public and get no tokens.
"""

from dataclasses import replace
from datetime import timedelta

from identity.crypto.jose.algorithms import SigningAlgorithm
from identity.directory.client import CLIENTS, Client
from identity.directory.own_clients import OWN_CLIENT_IDS
from identity.foundation.tenants import Tenant, Tenants
from identity.foundation.vocabulary import SecurityProfile
from server.platform.records import RecordStore

_RANK = tuple(SecurityProfile).index

LONGEST_CODE = timedelta(seconds=60)
LONGEST_ACCESS_TOKEN = timedelta(hours=1)

# §5.4.1 permits PS256, too, for which the provider has no keys.
SIGNING_ALGORITHMS = frozenset({SigningAlgorithm.ES256, SigningAlgorithm.EDDSA})


class Clients:
    def __init__(self, records: RecordStore, tenants: Tenants) -> None:
        self._clients = records.of(CLIENTS)
        self._tenants = tenants

    async def find(self, tenant: Tenant, client_id: str) -> Client | None:
        """Return the tenant's client, else the default tenant's client if it serves this tenant; it may be disabled.

        It has the rules of its security profile, and is not to be stored.
        """
        client = await self._clients.get(tenant.tenant_id, client_id)
        default = self._tenants.default
        if client is None and tenant != default:
            client = await self._clients.get(default.tenant_id, client_id)
        if client is None or not client.is_known_at(tenant, default=default):
            return None
        return under(client, tenant.security_profile)


def under(client: Client, demanded: SecurityProfile) -> Client:
    """Return the client with the rules of its own profile, or of the one that its tenant demands."""
    profile = max(client.security_profile, demanded, key=_RANK)
    if profile is SecurityProfile.NONE or client.id in OWN_CLIENT_IDS:
        return client
    userinfo = client.userinfo_signed_response_alg
    signs_requests = client.requires_signed_request or profile is SecurityProfile.FAPI_2_MESSAGE_SIGNING
    return replace(
        client,
        security_profile=profile,
        requires_pushed_request=True,
        requires_signed_request=signs_requests,
        requires_pkce=True,
        authorization_code_lifetime=min(client.authorization_code_lifetime, LONGEST_CODE),
        access_token_lifetime=min(client.access_token_lifetime, LONGEST_ACCESS_TOKEN),
        access_token_signed_response_alg=_permitted(client.access_token_signed_response_alg),
        id_token_signed_response_alg=_permitted(client.id_token_signed_response_alg),
        introspection_signed_response_alg=_permitted(client.introspection_signed_response_alg),
        authorization_signed_response_alg=_permitted(client.authorization_signed_response_alg),
        userinfo_signed_response_alg=_permitted(userinfo) if userinfo else None,
    )


def _permitted(algorithm: SigningAlgorithm) -> SigningAlgorithm:
    return algorithm if algorithm in SIGNING_ALGORITHMS else SigningAlgorithm.ES256
