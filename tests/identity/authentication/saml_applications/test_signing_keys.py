"""Keys of a tenant for SAML messages: the active one signs, the next one is published before."""

import asyncio
from dataclasses import dataclass

import pytest
from signxml.verifier import SignatureConfiguration, XMLVerifier

from identity.authentication.saml.keys import SamlKeys
from identity.authentication.saml_applications.identity_provider import IdentityProvider
from identity.authentication.saml_applications.signing_keys import SAML_SIGNING_KEYS, SamlSigningKeys
from identity.crypto.keys.master_keys import LostMasterKey, MasterKeys, new_master_key
from identity.foundation.randomness import SystemRandomness
from server.platform.errors import InvalidState
from tests.identity.authentication.saml_applications.sp import (
    DEFAULT,
    ApplicationFlow,
    Asked,
    query,
    request,
    response_of,
)
from tests.identity.browsers import alice
from tests.identity.remembered_keys import RememberedKeyMaker

RANDOMNESS = SystemRandomness()
OLD, NEW = new_master_key(RANDOMNESS), new_master_key(RANDOMNESS)


@dataclass(frozen=True)
class Signing:
    flow: ApplicationFlow
    keys: SamlSigningKeys

    async def signer(self, request_id: str) -> str:
        """Sign in to the application, and return the certificate whose key signed the response."""
        redirection, _ = await self.flow.sign_in(query(request(Asked(id=request_id))))
        response = response_of(redirection)
        (certificate,) = {"".join(str(each.text).split()) for each in response.iter("{*}X509Certificate")}
        at = SignatureConfiguration(verification_time=self.flow.provider.clock.now())
        XMLVerifier().verify(response, x509_cert=certificate, expect_config=at)
        return certificate

    async def published(self) -> list[str]:
        metadata = await IdentityProvider(self.keys).metadata(self.flow.provider.tenant)
        return [part.partition("<")[0] for part in metadata.split("X509Certificate>")[1::2]]


@pytest.fixture
async def signing() -> Signing:
    flow = ApplicationFlow()
    await flow.furnish()
    await flow.provider.admit(alice())
    return Signing(flow, flow.provider.saml_keys)


async def test_the_next_key_is_published_and_signs_once_it_is_active(signing: Signing) -> None:
    tenant = signing.flow.provider.tenant
    former = await signing.signer("_first")

    kept = await signing.keys.create_next(tenant)
    coming = kept.next_certificate
    assert await signing.published() == [former, coming]
    assert await signing.signer("_second") == former

    await signing.keys.activate_next(tenant)
    assert await signing.published() == [coming]
    assert await signing.signer("_third") == coming


async def test_there_is_one_next_key_which_can_be_deleted(signing: Signing) -> None:
    tenant = signing.flow.provider.tenant
    (active,) = await signing.published()
    for call in (signing.keys.activate_next, signing.keys.delete_next):
        with pytest.raises(InvalidState, match="there is no next key"):
            await call(tenant)

    await signing.keys.create_next(tenant)
    with pytest.raises(InvalidState, match="there is a next key"):
        await signing.keys.create_next(tenant)
    await signing.keys.delete_next(tenant)

    assert await signing.published() == [active]


async def test_of_two_concurrent_changes_one_holds(signing: Signing) -> None:
    tenant = signing.flow.provider.tenant
    await signing.published()

    made = await asyncio.gather(
        signing.keys.create_next(tenant), signing.keys.create_next(tenant), return_exceptions=True
    )

    (refused,) = [each for each in made if isinstance(each, BaseException)]
    assert isinstance(refused, InvalidState)
    assert len(await signing.published()) == 2


async def test_a_new_master_key_replaces_the_one_of_both_keys() -> None:
    flow = ApplicationFlow()
    store, tenant = flow.provider.store, flow.provider.tenant

    def keys(*texts: str) -> SamlSigningKeys:
        master_keys = MasterKeys.read(texts, "", randomness=RANDOMNESS)
        return SamlSigningKeys(store, SamlKeys(master_keys, RememberedKeyMaker(), flow.provider.clock))

    await keys(OLD).create_next(tenant)
    with pytest.raises(LostMasterKey):
        await keys(NEW).of(tenant)

    await keys(OLD, NEW).reseal(DEFAULT)

    (record,) = await store.of(SAML_SIGNING_KEYS).page(DEFAULT)
    active, latest = await keys(NEW).of(tenant), keys(NEW)
    assert active.certificate_text == record.certificate
    await latest.activate_next(tenant)
    assert (await latest.of(tenant)).certificate_text == record.next_certificate
