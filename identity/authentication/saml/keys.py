"""Our RSA keys for SAML: one at each provider, which also decrypts assertions, and one of each tenant; encrypted at rest."""

from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_der_private_key,
)
from cryptography.x509 import Certificate

from identity.authentication.saml.certificates import certificate_of, own_certificate, text_of_certificate
from identity.crypto.jose.algorithms import KIND_OF, SigningAlgorithm
from identity.crypto.keys.key_maker import KeyMaker
from identity.crypto.keys.master_keys import MasterKeys, Place, Sealed
from identity.directory.provider import Provider
from server.platform.call import TenantId
from server.platform.clock import Clock


@dataclass(frozen=True, slots=True)
class SealedKey:
    key: Sealed = field(repr=False)
    certificate: str


class SamlKeys:
    def __init__(self, master_keys: MasterKeys, making: KeyMaker, clock: Clock) -> None:
        self._master_keys = master_keys
        self._making = making
        self._clock = clock

    async def make(self, tenant_id: TenantId, provider_id: str, name: str) -> SealedKey:
        """Make our key at a provider and a certificate for it; raises Unavailable when too many wait already."""
        return await self.make_at(place_of(tenant_id, provider_id), name)

    async def make_at(self, place: Place, name: str) -> SealedKey:
        """Make a key for a place and a certificate for it; raises Unavailable when too many wait already."""
        key = await self._making.make(KIND_OF[SigningAlgorithm.RS256])
        assert isinstance(key, RSAPrivateKey)  # noqa: S101  # of this algorithm
        certificate = own_certificate(key, name, self._clock.now())
        octets = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
        sealed = self._master_keys.seal(octets, place)
        return SealedKey(sealed, text_of_certificate(certificate))

    def open(self, provider: Provider) -> tuple[RSAPrivateKey, Certificate]:
        """Return our key and its certificate; raises LostMasterKey."""
        # Every SAML provider is created with a key.
        assert provider.saml_key is not None  # noqa: S101
        sealed = SealedKey(provider.saml_key, provider.saml_certificate)
        return self.open_at(place_of(provider.tenant_id, provider.id), sealed)

    def open_at(self, place: Place, sealed: SealedKey) -> tuple[RSAPrivateKey, Certificate]:
        """Return the key of a place and its certificate; raises LostMasterKey."""
        octets = self._master_keys.open(sealed.key, place)
        # The key comes from our own ciphertext, and its validation would take 36 ms at each sign-in.
        key = load_der_private_key(octets, None, unsafe_skip_rsa_key_validation=True)
        assert isinstance(key, RSAPrivateKey)  # noqa: S101  # `make_at` makes no other
        return key, certificate_of(sealed.certificate)

    def resealed(self, place: Place, key: Sealed) -> Sealed:
        """Return the key under the active master key, unchanged if it is already; raises LostMasterKey."""
        return self._master_keys.resealed(key, place)


def place_of(tenant_id: TenantId, provider_id: str) -> Place:
    return Place("saml_key", tenant_id, provider_id)
