"""WebhookService."""

from gnomon.identity.v1 import webhook_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.records import fields_of, message_of
from identity.administration.webhooks.administration import WebhookAdministration, WebhookFields
from identity.administration.webhooks.webhook import Webhook
from identity.foundation.events.kinds import Level
from server.platform.call import Call


class WebhookServicer:
    def __init__(self, admission: Admission, administration: WebhookAdministration) -> None:
        self._admission = admission
        self._administration = administration

    async def list_webhooks(self, request: pb.ListWebhooksRequest, _call: Call) -> pb.ListWebhooksResponse:
        tenant, _ = await self._admission.of(request)
        return pb.ListWebhooksResponse(webhooks=map(_message, await self._administration.all(tenant)))

    async def create_webhook(self, request: pb.CreateWebhookRequest, _call: Call) -> pb.CreateWebhookResponse:
        tenant, actor = await self._admission.of(request)
        webhook, secret = await self._administration.create(tenant, _fields(request.fields), actor)
        return pb.CreateWebhookResponse(webhook=_message(webhook), secret=secret)

    async def get_webhook(self, request: pb.GetWebhookRequest, _call: Call) -> pb.GetWebhookResponse:
        tenant, _ = await self._admission.of(request)
        webhook = await self._administration.get(tenant, request.webhook_id)
        return pb.GetWebhookResponse(webhook=_message(webhook))

    async def update_webhook(self, request: pb.UpdateWebhookRequest, _call: Call) -> pb.UpdateWebhookResponse:
        tenant, actor = await self._admission.of(request)
        fields = _fields(request.fields)
        webhook = await self._administration.change(tenant, request.webhook_id, fields, actor)
        return pb.UpdateWebhookResponse(webhook=_message(webhook))

    async def delete_webhook(self, request: pb.DeleteWebhookRequest, _call: Call) -> pb.DeleteWebhookResponse:
        tenant, actor = await self._admission.of(request)
        await self._administration.delete(tenant, request.webhook_id, actor)
        return pb.DeleteWebhookResponse()

    async def rotate_webhook_secret(
        self, request: pb.RotateWebhookSecretRequest, _call: Call
    ) -> pb.RotateWebhookSecretResponse:
        tenant, actor = await self._admission.of(request)
        webhook, secret = await self._administration.rotate(tenant, request.webhook_id, actor)
        return pb.RotateWebhookSecretResponse(webhook=_message(webhook), secret=secret)


def _fields(message: pb.WebhookFields) -> WebhookFields:
    return WebhookFields(
        **fields_of(message, WebhookFields, without=["level"]), level=Level(message.level or Level.INFO)
    )


def _message(webhook: Webhook) -> pb.Webhook:
    return message_of(
        pb.Webhook,
        webhook,
        next_attempt=webhook.next_at if webhook.is_enabled else None,
        deliveries=[message_of(pb.WebhookDelivery, each) for each in webhook.deliveries],
    )
