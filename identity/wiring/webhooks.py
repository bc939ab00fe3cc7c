"""Composes webhooks: their administration and their delivery."""

from collections.abc import Coroutine, Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import webhook_service_pb2
from identity.access.callers import Callers
from identity.access.rpc.admission import Admission
from identity.administration.rpc.webhook import WebhookServicer
from identity.administration.webhooks.administration import WebhookAdministration
from identity.administration.webhooks.channels import Channels, Receivers
from identity.administration.webhooks.deliveries import Deliveries
from identity.administration.webhooks.digests import Digests
from identity.administration.webhooks.signatures import WebhookSecrets
from identity.directory.users import Users
from identity.wiring.dependencies import Dependencies

_WEBHOOKS = webhook_service_pb2.DESCRIPTOR.services_by_name["WebhookService"]


class WebhookWiring:
    servicers: Mapping[ServiceDescriptor, object]

    def __init__(self, dependencies: Dependencies, callers: Callers, users: Users, sender: Receivers) -> None:
        self._dependencies = dependencies
        secrets = WebhookSecrets(dependencies.store, dependencies.master_keys)
        administration = WebhookAdministration(
            dependencies.store,
            secrets,
            dependencies.destinations,
            events=dependencies.events,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
            has_mail=dependencies.mail.is_open,
        )
        self._deliveries = Deliveries(
            dependencies.store,
            Channels(secrets, sender),
            Digests(users, dependencies.mail),
            events=dependencies.events,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
        )
        dependencies.events.listen(self._deliveries.news)
        admission = Admission(dependencies.tenants, callers)
        self.servicers = {_WEBHOOKS: WebhookServicer(admission, administration)}

    def loop(self) -> Coroutine[None, None, None]:
        """Deliver events while the provider runs."""
        return self._deliveries.run(self._dependencies.tenants.all)
