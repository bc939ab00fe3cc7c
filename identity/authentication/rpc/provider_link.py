"""ProviderLinkService."""

from gnomon.identity.v1 import provider_link_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations
from identity.authentication.federation.own_links import LinkedProviders, OwnLinks
from identity.authentication.requests.redirection import Redirection
from identity.authentication.rpc.browser import form_origins_of, offered_provider, redirect


class ProviderLinkServicer(Operations):
    def __init__(self, admission: Admission, links: OwnLinks) -> None:
        super().__init__(
            admission,
            {
                pb.ListProviderLinksRequest: links.of_user,
                pb.BeginProviderLinkRequest: links.begin,
                pb.DeleteProviderLinkRequest: links.remove,
            },
            shows={LinkedProviders: _links, Redirection: redirect},
        )


def _links(found: LinkedProviders) -> pb.ListProviderLinksResponse:
    return pb.ListProviderLinksResponse(
        linked=map(offered_provider, found.linked),
        available=map(offered_provider, found.available),
        form_origins=form_origins_of(found.available),
    )
