"""Records of SAML providers: what they keep, and what they hide."""

from datetime import timedelta

import msgspec
import pytest

from identity.authentication.federation.secrets import ProviderSecrets
from identity.authentication.saml.arrival import SAML_ARRIVALS
from identity.authentication.saml.keys import SamlKeys
from identity.crypto.keys.master_keys import LostMasterKey, MasterKeys, new_master_key
from identity.directory.provider import PROVIDERS
from identity.foundation.randomness import SystemRandomness
from server.platform.errors import Unauthenticated
from tests.identity.authentication.saml.flow import DEFAULT, SamlFlow
from tests.identity.authentication.saml.idp import posted, response, signed
from tests.identity.remembered_keys import RememberedKeyMaker

RANDOMNESS = SystemRandomness()


async def test_a_provider_reads_as_it_was_written() -> None:
    flow = SamlFlow()
    provider = await flow.furnish(requires_encryption=True, clock_skew_secs=7)

    assert msgspec.json.decode(msgspec.json.encode(provider), type=PROVIDERS.type) == provider


async def test_a_response_waits_as_long_as_its_sign_in_and_is_not_seen() -> None:
    flow = SamlFlow()
    await flow.furnish()
    sent, _ = await flow.leave()
    message = posted(signed(response(flow.facts(sent))))

    tenant = flow.provider.tenant
    await flow.inner.callback.keep(tenant, "p1", relay_state=sent["RelayState"], message=message)

    (arrival,) = await flow.provider.store.of(SAML_ARRIVALS).page(DEFAULT)
    assert arrival.expires_at == flow.provider.clock.now() + timedelta(minutes=5)
    assert message not in repr(arrival)
    with pytest.raises(Unauthenticated):
        await flow.inner.callback.keep(tenant, "p1", relay_state=sent["RelayState"], message=message)


async def test_a_new_master_key_replaces_the_one_of_our_key() -> None:
    flow = SamlFlow()
    old, new = new_master_key(RANDOMNESS), new_master_key(RANDOMNESS)
    both, latest = (MasterKeys.read(texts, "", randomness=RANDOMNESS) for texts in ((old, new), (new,)))
    keys = SamlKeys(
        MasterKeys.read((old,), "", randomness=RANDOMNESS), RememberedKeyMaker(), flow.provider.clock
    )
    flow.inner.saml_keys = keys
    provider = await flow.furnish()
    with pytest.raises(LostMasterKey):
        SamlKeys(latest, RememberedKeyMaker(), flow.provider.clock).open(provider)

    await ProviderSecrets(flow.provider.store, both).reseal(DEFAULT)

    (resealed,) = await flow.provider.store.of(PROVIDERS).page(DEFAULT)
    key, certificate = SamlKeys(latest, RememberedKeyMaker(), flow.provider.clock).open(resealed)
    assert certificate.public_key() == key.public_key()
    assert resealed.saml_certificate == provider.saml_certificate
