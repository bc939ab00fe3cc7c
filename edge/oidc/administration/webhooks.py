"""/events/webhooks: addresses to which security events are posted. A secret is only in the response that makes it."""

import msgspec
from aiohttp import web

from edge.oidc.access.administration_calls import AdministrationCalls, members, tenant_and_id, written
from edge.oidc.access.body import read_json
from edge.oidc.access.tenant import tenant_of
from edge.oidc.openapi.operation import content, described, done
from edge.oidc.openapi.schemas import STRING, part, with_any
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import webhook_service_pb2 as pb


class _Webhook(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    url: str
    types: tuple[str, ...] = ()
    level: str = "info"
    enabled: bool = True

    def message(self) -> pb.WebhookFields:
        return pb.WebhookFields(
            name=self.name, url=self.url, types=self.types, level=self.level, enabled=self.enabled
        )


_WEBHOOK = part(pb.GetWebhookResponse, "webhook")
_WITH_SECRET = with_any({name: value for name, value in _WEBHOOK.items() if name != "title"}, secret=STRING)


class WebhooksEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls) -> None:
        self._webhooks = stubs.webhooks
        self._calls = calls

    @described("Lists the webhooks of a tenant.", content(part(pb.ListWebhooksResponse, "webhooks")))
    async def list(self, request: web.Request) -> web.Response:
        asked = pb.ListWebhooksRequest(tenant_id=tenant_of(request), caller=self._calls.caller(request))
        found = await self._webhooks.ListWebhooks(asked, timeout=self._calls.timeout)
        return written([members(webhook) for webhook in found.webhooks])

    @described(
        "Creates a webhook; the response alone has its secret.",
        content(_WITH_SECRET),
        body=_Webhook,
        refusals=(409,),
    )
    async def create(self, request: web.Request) -> web.Response:
        caller = self._calls.caller(request)
        sent = await read_json(request, _Webhook, max_bytes=self._calls.max_bytes)
        asked = pb.CreateWebhookRequest(tenant_id=tenant_of(request), caller=caller, fields=sent.message())
        made = await self._webhooks.CreateWebhook(asked, timeout=self._calls.timeout)
        return written({**members(made.webhook), "secret": made.secret})

    @described("A webhook with its last deliveries.", content(_WEBHOOK))
    async def get(self, request: web.Request) -> web.Response:
        tenant_id, webhook_id = tenant_and_id(request)
        asked = pb.GetWebhookRequest(
            tenant_id=tenant_id, caller=self._calls.caller(request), webhook_id=webhook_id
        )
        found = await self._webhooks.GetWebhook(asked, timeout=self._calls.timeout)
        return written(members(found.webhook))

    @described("Replaces a webhook.", content(_WEBHOOK), body=_Webhook, refusals=(409,))
    async def update(self, request: web.Request) -> web.Response:
        (tenant_id, webhook_id), caller = tenant_and_id(request), self._calls.caller(request)
        sent = await read_json(request, _Webhook, max_bytes=self._calls.max_bytes)
        asked = pb.UpdateWebhookRequest(
            tenant_id=tenant_id, caller=caller, webhook_id=webhook_id, fields=sent.message()
        )
        kept = await self._webhooks.UpdateWebhook(asked, timeout=self._calls.timeout)
        return written(members(kept.webhook))

    @described("Deletes a webhook.", done())
    async def delete(self, request: web.Request) -> web.Response:
        tenant_id, webhook_id = tenant_and_id(request)
        asked = pb.DeleteWebhookRequest(
            tenant_id=tenant_id, caller=self._calls.caller(request), webhook_id=webhook_id
        )
        await self._webhooks.DeleteWebhook(asked, timeout=self._calls.timeout)
        return web.Response()

    @described(
        "Makes another secret of a webhook; the one before signs as well for a day.", content(_WITH_SECRET)
    )
    async def rotate(self, request: web.Request) -> web.Response:
        tenant_id, webhook_id = tenant_and_id(request)
        asked = pb.RotateWebhookSecretRequest(
            tenant_id=tenant_id, caller=self._calls.caller(request), webhook_id=webhook_id
        )
        made = await self._webhooks.RotateWebhookSecret(asked, timeout=self._calls.timeout)
        return written({**members(made.webhook), "secret": made.secret})
