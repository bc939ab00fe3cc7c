"""WebhookService."""

from gnomon.identity.v1 import webhook_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations
from identity.access.rpc.records import fields_of, message_of
from identity.administration.webhooks.administration import WebhookAdministration, WebhookFields
from identity.administration.webhooks.webhook import Webhook
from identity.foundation.events.kinds import Level


class WebhookServicer(Operations):
    def __init__(self, admission: Admission, webhooks: WebhookAdministration) -> None:
        super().__init__(
            admission,
            {
                pb.ListWebhooksRequest: webhooks.all,
                pb.CreateWebhookRequest: webhooks.create,
                pb.GetWebhookRequest: webhooks.get,
                pb.UpdateWebhookRequest: webhooks.change,
                pb.DeleteWebhookRequest: webhooks.delete,
                pb.RotateWebhookSecretRequest: webhooks.rotate,
            },
            reads={WebhookFields: _fields},
            shows={Webhook: _message},
        )


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
