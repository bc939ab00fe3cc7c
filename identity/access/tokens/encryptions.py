"""Encryption of documents to a client, according to its metadata.

A document that must be encrypted is never sent in the clear: without a key of the client it is not sent.
"""

from identity.access.client_authentication.client_keys import ClientKeys
from identity.crypto.jose.encryption import ContentEncryption, Encryption, KeyManagement
from identity.directory.client import Client
from server.platform.errors import Unavailable


class ResponseEncryptions:
    def __init__(self, keys: ClientKeys) -> None:
        self._keys = keys

    async def of_id_token(self, client: Client) -> Encryption | None:
        """Return None for a client whose ID tokens are not encrypted; raises Unavailable without a key of the client."""
        return await self._chosen(
            client, client.id_token_encrypted_response_alg, client.id_token_encrypted_response_enc
        )

    async def of_user_info(self, client: Client) -> Encryption | None:
        """Like `of_id_token`."""
        return await self._chosen(
            client, client.userinfo_encrypted_response_alg, client.userinfo_encrypted_response_enc
        )

    async def of_authorization(self, client: Client) -> Encryption | None:
        """Like `of_id_token`, for signed authorization responses."""
        return await self._chosen(
            client, client.authorization_encrypted_response_alg, client.authorization_encrypted_response_enc
        )

    async def _chosen(
        self, client: Client, alg: KeyManagement | None, enc: ContentEncryption | None
    ) -> Encryption | None:
        if alg is None:
            return None
        keys = await self._keys.for_encryption(client, alg)
        if not keys:
            raise Unavailable.untouched(f"the key set of the client has no key for {alg}, or cannot be read")
        # OpenID Connect Dynamic Client Registration 1.0 §2, JARM §3.
        return Encryption(alg=alg, enc=enc or ContentEncryption.A128CBC_HS256, key=keys[0])
