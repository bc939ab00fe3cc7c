"""Composes storage and delivery of uploaded images."""

from collections.abc import Mapping
from dataclasses import replace

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import image_service_pb2
from identity.access.callers import Actor, Callers
from identity.administration.images.holders import Holders
from identity.administration.images.image_administration import ImageAdministration
from identity.administration.images.picture_access import PictureAccess
from identity.administration.rpc.image import ImageServicer
from identity.directory.client import CLIENTS, Client
from identity.directory.images.image import ImageKind
from identity.directory.own_clients import OWN_CLIENT_IDS
from identity.directory.provider import PROVIDERS, Provider
from identity.directory.providers import Providers
from identity.directory.user import USERS, User, UserId
from identity.foundation.tenants import Tenant
from identity.wiring.access import UserState
from identity.wiring.dependencies import Dependencies
from server.platform.errors import InvalidState

_IMAGES = image_service_pb2.DESCRIPTOR.services_by_name["ImageService"]


class ImageWiring:
    servicers: Mapping[ServiceDescriptor, object]

    def __init__(self, dependencies: Dependencies, user_state: UserState, callers: Callers) -> None:
        self._dependencies = dependencies
        self._user_state = user_state
        self._administrators = dependencies.administrators
        administration = ImageAdministration(
            dependencies.images,
            dependencies.rewriter,
            holders={
                ImageKind.CLIENT: self._clients(),
                ImageKind.USER: self._people(),
                ImageKind.PROVIDER: self._providers(),
            },
            events=dependencies.events,
        )
        config = dependencies.config.pictures
        picture_access = PictureAccess(callers, user_state.active_tokens, is_public=config.public)
        servicer = ImageServicer(
            dependencies.tenants,
            callers,
            administration=administration,
            picture_access=picture_access,
            config=config,
        )
        self.servicers = {_IMAGES: servicer}

    def _clients(self) -> Holders[Client]:
        async def expect_may_change(_tenant: Tenant, client: Client, actor: Actor) -> None:
            await self._administrators.expect_may_change(client, actor)
            if client.id in OWN_CLIENT_IDS:
                raise InvalidState("the client belongs to the provider and cannot be changed")

        return Holders(
            noun="client",
            records=self._dependencies.store.of(CLIENTS),
            known=self._dependencies.clients.find,
            expect_may_change=expect_may_change,
            image_id_of=lambda client: client.logo_id,
            with_image=lambda client, image_id: replace(client, logo_id=image_id),
            name_of=lambda client: client.id,
        )

    def _people(self) -> Holders[User]:
        async def known(tenant: Tenant, user_id: str) -> User | None:
            return await self._user_state.users.find(tenant, UserId(user_id))

        async def expect_may_change(_tenant: Tenant, user: User, actor: Actor) -> None:
            await self._administrators.expect_may_change(user, actor)

        def with_image(user: User, image_id: str) -> User:
            return replace(user, picture_id=image_id, changed_at=self._dependencies.clock.now())

        return Holders(
            noun="user",
            records=self._dependencies.store.of(USERS),
            known=known,
            expect_may_change=expect_may_change,
            image_id_of=lambda user: user.picture_id,
            with_image=with_image,
            name_of=lambda user: user.email,
        )

    def _providers(self) -> Holders[Provider]:
        async def expect_may_change(tenant: Tenant, provider: Provider, actor: Actor) -> None:
            await self._administrators.expect_may_vouch(tenant, provider.fields, actor)

        return Holders(
            noun="provider",
            records=self._dependencies.store.of(PROVIDERS),
            known=Providers(self._dependencies.store).find,
            expect_may_change=expect_may_change,
            image_id_of=lambda provider: provider.image_id,
            with_image=lambda provider, image_id: replace(provider, image_id=image_id),
            name_of=lambda provider: provider.name,
        )
