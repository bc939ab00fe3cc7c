"""ImageService."""

from gnomon.identity.v1 import caller_pb2
from gnomon.identity.v1 import image_service_pb2 as pb
from identity.access.callers import Actor, ActorKind, AdministrationArea, Callers, Right
from identity.administration.images.image_administration import ImageAdministration
from identity.administration.images.picture_access import PictureAccess
from identity.directory.images.config import PicturesConfig
from identity.directory.images.image import ImageKind, Owner
from identity.directory.user import UserId
from identity.foundation.tenants import Tenant, Tenants
from server.platform.call import Call
from server.platform.errors import InvalidArgument, NotFound, PermissionDenied

_KINDS = {
    pb.IMAGE_KIND_CLIENT: ImageKind.CLIENT,
    pb.IMAGE_KIND_USER: ImageKind.USER,
    pb.IMAGE_KIND_PROVIDER: ImageKind.PROVIDER,
}
_AREAS = {
    ImageKind.CLIENT: AdministrationArea.CLIENTS,
    ImageKind.USER: AdministrationArea.USERS,
    ImageKind.PROVIDER: AdministrationArea.AUTH_PROVIDERS,
}


class ImageServicer:
    def __init__(
        self,
        tenants: Tenants,
        callers: Callers,
        *,
        administration: ImageAdministration,
        picture_access: PictureAccess,
        config: PicturesConfig,
    ) -> None:
        self._tenants = tenants
        self._callers = callers
        self._administration = administration
        self._picture_access = picture_access
        self._config = config

    async def admit_image(self, request: pb.AdmitImageRequest, _call: Call) -> pb.AdmitImageResponse:
        tenant, owner, actor = await self._admitted(request, Right.UPDATE)
        await self._administration.expect_changeable(tenant, owner, actor)
        return pb.AdmitImageResponse(max_bytes=self._config.max_bytes)

    async def put_image(self, request: pb.PutImageRequest, _call: Call) -> pb.PutImageResponse:
        tenant, owner, actor = await self._admitted(request, Right.UPDATE)
        if len(request.content) > self._config.max_bytes:
            raise InvalidArgument(f"expected an image of at most {self._config.max_bytes} octets")
        image_id = await self._administration.put(tenant, owner, request.content, actor=actor)
        return pb.PutImageResponse(image_id=image_id)

    async def get_image(self, request: pb.GetImageRequest, _call: Call) -> pb.GetImageResponse:
        tenant, owner = self._tenants.find(request.tenant_id), _owner(request.owner)
        is_person = owner.kind is ImageKind.USER
        if is_person:
            await self._picture_access.expect_may_see(tenant, UserId(owner.id), request.caller)
        image = await self._administration.find(tenant, owner)
        if is_person and image.id != request.image_id:
            raise NotFound("there is no such image")
        return pb.GetImageResponse(
            image_id=image.id,
            content=image.content,
            media_type=image.media_type,
            is_public=self._picture_access.is_public or not is_person,
        )

    async def delete_image(self, request: pb.DeleteImageRequest, _call: Call) -> pb.DeleteImageResponse:
        tenant, owner, actor = await self._admitted(request, Right.DELETE)
        await self._administration.delete(tenant, owner, image_id=request.image_id, actor=actor)
        return pb.DeleteImageResponse()

    async def get_picture_config(
        self, request: pb.GetPictureConfigRequest, _call: Call
    ) -> pb.GetPictureConfigResponse:
        self._tenants.find(request.tenant_id)
        return pb.GetPictureConfigResponse(
            upload_allowed=self._config.upload_allowed, content_len_limit=self._config.max_bytes
        )

    async def _admitted(
        self, request: pb.AdmitImageRequest | pb.PutImageRequest | pb.DeleteImageRequest, right: Right
    ) -> tuple[Tenant, Owner, Actor]:
        tenant, owner = self._tenants.find(request.tenant_id), _owner(request.owner)
        if owner.kind is ImageKind.USER:
            return tenant, owner, await self._expect_person_or(tenant, owner, request.caller, right)
        actor = await self._callers.expect(tenant, request.caller, _AREAS[owner.kind], right)
        return tenant, owner, actor

    async def _expect_person_or(
        self, tenant: Tenant, owner: Owner, caller: caller_pb2.Caller, right: Right
    ) -> Actor:
        user_id = UserId(owner.id)
        actor = await self._callers.expect_self_or(tenant, caller, user_id, _AREAS[owner.kind], right)
        is_own = actor.kind is ActorKind.USER and actor.id == owner.id
        may_upload = self._config.upload_allowed or actor.is_administrator
        if right is Right.UPDATE and is_own and not may_upload:
            raise PermissionDenied("only administrators can upload pictures")
        return actor


def _owner(message: pb.ImageOwner) -> Owner:
    return Owner(_KINDS[message.kind], message.id)
