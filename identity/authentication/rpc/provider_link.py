"""ProviderLinkService."""

from gnomon.identity.v1 import provider_link_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.authentication.federation.own_links import OwnLinks
from identity.authentication.rpc.browser import form_origins_of, offered_provider, redirect
from identity.directory.user import UserId
from server.platform.call import Call


class ProviderLinkServicer:
    def __init__(self, admission: Admission, links: OwnLinks) -> None:
        self._admission = admission
        self._links = links

    async def list_provider_links(
        self, request: pb.ListProviderLinksRequest, _call: Call
    ) -> pb.ListProviderLinksResponse:
        tenant, _ = await self._admission.of(request)
        found = await self._links.of_user(tenant, UserId(request.user_id))
        return pb.ListProviderLinksResponse(
            linked=map(offered_provider, found.linked),
            available=map(offered_provider, found.available),
            form_origins=form_origins_of(found.available),
        )

    async def begin_provider_link(
        self, request: pb.BeginProviderLinkRequest, _call: Call
    ) -> pb.BeginProviderLinkResponse:
        person = await self._admission.of_person(request)
        begun = await self._links.begin(
            person, request.provider_id, modification_token=request.modification_token
        )
        return pb.BeginProviderLinkResponse(redirect=redirect(begun))

    async def delete_provider_link(
        self, request: pb.DeleteProviderLinkRequest, _call: Call
    ) -> pb.DeleteProviderLinkResponse:
        person = await self._admission.of_person(request)
        await self._links.remove(person, request.provider_id, modification_token=request.modification_token)
        return pb.DeleteProviderLinkResponse()
