"""Secrets of webhooks, and signatures of messages: Standard Webhooks 1.0, symmetric scheme `v1`."""

import base64
import hashlib
import hmac
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from identity.administration.webhooks.webhook import MOST_OF_TENANT, WEBHOOKS, Webhook
from identity.crypto.keys.master_keys import MasterKeys, Place, Sealed
from server.platform.call import TenantId
from server.platform.records import Changed, RecordStore

SECRET_OCTETS = 32
_PREFIX = "whsec_"


def secret_text(octets: bytes) -> str:
    return f"{_PREFIX}{base64.b64encode(octets).decode()}"


def signed_headers(message_id: str, at: datetime, body: bytes, secrets: Iterable[bytes]) -> Mapping[str, str]:
    """Return the headers of a message, with a signature of each secret."""
    timestamp = str(int(at.timestamp()))
    content = b".".join((message_id.encode(), timestamp.encode(), body))
    signatures = (hmac.new(secret, content, hashlib.sha256).digest() for secret in secrets)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(f"v1,{base64.b64encode(each).decode()}" for each in signatures),
    }


class WebhookSecrets:
    def __init__(self, store: RecordStore, master_keys: MasterKeys) -> None:
        self._records = store.of(WEBHOOKS)
        self._master_keys = master_keys

    def seal(self, secret: bytes, tenant_id: TenantId, webhook_id: str) -> Sealed:
        return self._master_keys.seal(secret, _place(tenant_id, webhook_id))

    def open(self, webhook: Webhook, now: datetime) -> list[bytes]:
        """Return the secrets that sign now, newest first; raises LostMasterKey."""
        sealed = [webhook.secret]
        if webhook.previous_secret is not None and webhook.previous_until and now < webhook.previous_until:
            sealed.append(webhook.previous_secret)
        place = _place(webhook.tenant_id, webhook.id)
        return [self._master_keys.open(each, place) for each in sealed]

    def open_token(self, webhook: Webhook) -> str:
        """Return the token of the receiver, empty without one; raises LostMasterKey."""
        if webhook.token is None:
            return ""
        return self._master_keys.open(webhook.token, _place(webhook.tenant_id, webhook.id)).decode()

    async def reseal(self, tenant_id: TenantId) -> None:
        """Encrypt secrets of inactive master keys under the active one; raises LostMasterKey."""
        for webhook in await self._records.page(tenant_id, most=MOST_OF_TENANT):
            place, previous, token = _place(tenant_id, webhook.id), webhook.previous_secret, webhook.token
            secret = self._master_keys.resealed(webhook.secret, place)
            if previous is not None:
                previous = self._master_keys.resealed(previous, place)
            if token is not None:
                token = self._master_keys.resealed(token, place)
            resealed = replace(webhook, secret=secret, previous_secret=previous, token=token)
            if resealed != webhook:
                with suppress(Changed):
                    await self._records.replace(resealed)


def _place(tenant_id: TenantId, webhook_id: str) -> Place:
    return Place("webhook", tenant_id, webhook_id)
