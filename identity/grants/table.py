"""Every grant that the token endpoint knows."""

from collections.abc import Mapping

from identity.clients.secrets import SecretHasher
from identity.grants.authorization_code import AuthorizationCodeGrant
from identity.grants.client_credentials import ClientCredentialsGrant
from identity.grants.device_code import DeviceCodeGrant
from identity.grants.grant import Grant
from identity.grants.refresh_token import RefreshTokenGrant
from identity.randomness import Randomness
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
    clock: Clock,
    randomness: Randomness,
) -> Mapping[GrantType, Grant]:
    table: tuple[Grant, ...] = (
        AuthorizationCodeGrant(records, secrets, sets=sets, clock=clock),
        ClientCredentialsGrant(),
        RefreshTokenGrant(families),
        DeviceCodeGrant(records, secrets, clock=clock, randomness=randomness),
    )
    return {grant.grant_type: grant for grant in table}
