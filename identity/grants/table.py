"""Every grant that the token endpoint knows."""

from collections.abc import Mapping

from identity.grants.client_credentials import ClientCredentialsGrant
from identity.grants.grant import Grant
from identity.vocabulary import GrantType


def grants() -> Mapping[GrantType, Grant]:
    table: tuple[Grant, ...] = (ClientCredentialsGrant(),)
    return {grant.grant_type: grant for grant in table}
