"""Records of clients as programs of two versions read them."""

import msgspec

from identity.directory.client import CLIENTS, Client
from identity.foundation.tenants import tenant_id_of
from identity.foundation.vocabulary import LATER_GRANT_TYPES, GrantType
from server.platform.records.contents import Contents


def test_the_version_before_reads_a_client_without_the_grant_types_that_it_does_not_know() -> None:
    client = Client(tenant_id=tenant_id_of("default"), id="app", grant_types=frozenset(GrantType))
    contents = Contents(CLIENTS)

    text = contents.written(client)

    assert set(msgspec.json.decode(text)["grant_types"]) == set(GrantType) - LATER_GRANT_TYPES
    assert contents.read(text) == client
