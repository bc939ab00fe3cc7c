"""WebhookService."""

from gnomon.identity.v1 import webhook_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations
from identity.administration.webhooks.administration import WebhookAdministration


class WebhookServicer(Operations):
    def __init__(self, admission: Admission, webhooks: WebhookAdministration) -> None:
        super().__init__(
            admission,
            {
                pb.ListWebhooksRequest: webhooks.all,
                pb.CreateWebhookRequest: webhooks.create,
                pb.GetWebhookRequest: webhooks.get,
                pb.ListWebhookDeliveriesRequest: webhooks.deliveries,
                pb.UpdateWebhookRequest: webhooks.change,
                pb.DeleteWebhookRequest: webhooks.delete,
                pb.RotateWebhookSecretRequest: webhooks.rotate,
            },
        )
