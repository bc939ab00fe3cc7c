"""All grants of the token endpoint."""

from collections.abc import Awaitable, Callable, Mapping

from identity.authorization.code import AuthorizationCode
from identity.clients.secrets import SecretHasher
from identity.grants.authorization_code import AuthorizationCodeGrant
from identity.grants.client_credentials import ClientCredentialsGrant, Standings
from identity.grants.device_code import DeviceCodeGrant
from identity.grants.grant import Grant
from identity.grants.refresh_token import RefreshTokenGrant
from identity.randomness import Randomness
from identity.tenants import Tenant
from identity.tokens.families import Families
from identity.tokens.token_sets import TokenSets
from identity.vocabulary import GrantType
from server.platform.clock import Clock
from server.platform.records import RecordStore


def grants(
    records: RecordStore,
    secrets: SecretHasher,
    *,
    sets: TokenSets,
    families: Families,
    standings: Standings,
    clock: Clock,
    randomness: Randomness,
    report_replay: Callable[[Tenant, AuthorizationCode], Awaitable[None]],
) -> Mapping[GrantType, Grant]:
    table: tuple[Grant, ...] = (
        AuthorizationCodeGrant(records, secrets, sets=sets, clock=clock, report_replay=report_replay),
        ClientCredentialsGrant(standings),
        RefreshTokenGrant(families),
        DeviceCodeGrant(records, secrets, clock=clock, randomness=randomness),
    )
    return {grant.grant_type: grant for grant in table}
