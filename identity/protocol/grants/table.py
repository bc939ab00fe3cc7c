"""All grants of the token endpoint."""

from collections.abc import Awaitable, Callable, Mapping

from identity.access.client_authentication.config import ISSUER_ALONE, ClientAuthenticationConfig
from identity.access.tokens.active import ActiveTokens
from identity.access.tokens.families import Families
from identity.access.tokens.token_sets import TokenSets
from identity.authentication.authorization.code import AuthorizationCode
from identity.delivery.http.published_keys import PublishedKeys
from identity.directory.authorization_details.detail_types import DetailTypes
from identity.directory.secrets import SecretHasher
from identity.foundation.randomness import Randomness
from identity.foundation.single_use import SingleUse
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import GrantType
from identity.protocol.grants.authorization_code import AuthorizationCodeGrant
from identity.protocol.grants.backchannel import BackchannelGrant
from identity.protocol.grants.client_credentials import ClientCredentialsGrant, Standings
from identity.protocol.grants.device_code import DeviceCodeGrant
from identity.protocol.grants.grant import Grant
from identity.protocol.grants.jwt_bearer import JwtBearerGrant
from identity.protocol.grants.refresh_token import RefreshTokenGrant
from identity.protocol.grants.token_exchange import TokenExchangeGrant
from server.platform.clock import Clock
from server.platform.records import RecordStore


def grants(
    records: RecordStore,
    secrets: SecretHasher,
    *,
    sets: TokenSets,
    families: Families,
    tokens: ActiveTokens,
    upstream_keys: PublishedKeys | None,
    standings: Standings,
    clock: Clock,
    randomness: Randomness,
    report_replay: Callable[[Tenant, AuthorizationCode], Awaitable[None]],
    client_authentication: ClientAuthenticationConfig = ISSUER_ALONE,
) -> Mapping[GrantType, Grant]:
    """Return the grants; without `upstream_keys` no assertions of upstream providers are redeemed."""
    table: tuple[Grant, ...] = (
        AuthorizationCodeGrant(records, secrets, sets=sets, clock=clock, report_replay=report_replay),
        ClientCredentialsGrant(standings, DetailTypes(records)),
        RefreshTokenGrant(families),
        DeviceCodeGrant(records, secrets, clock=clock, randomness=randomness),
        BackchannelGrant(records, secrets, clock=clock),
        TokenExchangeGrant(tokens, clock),
    )
    found = {grant.grant_type: grant for grant in table}
    if upstream_keys is not None:
        assertions = JwtBearerGrant(
            records,
            upstream_keys,
            single_use=SingleUse(records),
            clock=clock,
            config=client_authentication,
        )
        found[assertions.grant_type] = assertions
    return found
