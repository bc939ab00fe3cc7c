"""/clients/{id}/logo, /users/{id}/picture, /providers/{id}/img: uploaded images.

An address that contains the image id may be cached forever, since each upload gets a new id.
"""

from collections.abc import Iterator, Mapping

from aiohttp import hdrs, web

from edge.conditional import is_named
from edge.oidc.access.administration_calls import AdministrationCalls, named
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.tenant import tenant_of
from edge.oidc.access.upload import Uploads, read_image
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import UNCHANGED, Answer, Caller, described, done, may, plain
from edge.oidc.stubs import Stubs
from edge.problem import Handler
from gnomon.identity.v1 import image_service_pb2 as pb

_FOR_EVER = "max-age=31536000, immutable"
_ASKED_ANEW = "no-cache"
# Even when a browser takes the image for a document, it neither loads nor runs anything.
_POLICY = "default-src 'none'; sandbox; frame-ancestors 'none'"
_NOT_MODIFIED = 304


def about_images(
    stubs: Stubs, config: OidcConfig, *, browsers: Browsers
) -> Iterator[tuple[str, Mapping[str, Handler]]]:
    """Yield paths and handlers by method; paths with a fixed segment come before those with an id in its place."""
    calls = AdministrationCalls(config, browsers)
    logos = ImagesEndpoint(stubs, calls, pb.IMAGE_KIND_CLIENT)
    pictures = ImagesEndpoint(stubs, calls, pb.IMAGE_KIND_USER)
    images = ImagesEndpoint(stubs, calls, pb.IMAGE_KIND_PROVIDER)

    yield "/clients/{id}/logo", {"GET": logos.get, "PUT": logos.put, "DELETE": logos.delete}
    yield "/users/{id}/picture", {"PUT": pictures.put}
    yield "/users/{id}/picture/{image_id}", {"GET": pictures.get, "DELETE": pictures.delete}
    yield "/providers/{id}/img", {"GET": images.get, "PUT": images.put, "DELETE": images.delete}


class ImagesEndpoint:
    """Images of one kind of owner, which is the `id` of the path."""

    def __init__(self, stubs: Stubs, calls: AdministrationCalls, kind: "pb.ImageKind.ValueType") -> None:
        self._images = stubs.images
        self._calls = calls
        self._kind = kind
        self._uploads = Uploads()

    @described(
        "An image.",
        Answer(status=200, text="The image.", media_type="image/*", headers={"ETag": "The id of the image."}),
        UNCHANGED,
        caller=Caller.ANYBODY,
        query=(may("updated", "The id of the image, so that it is cached for ever."),),
        refusals=(401,),
    )
    async def get(self, request: web.Request) -> web.Response:
        asked = pb.GetImageRequest(
            tenant_id=tenant_of(request),
            caller=self._calls.caller(request),
            owner=self._owner(request),
            image_id=_image_id(request),
        )
        found = await self._images.GetImage(asked, timeout=self._calls.timeout)
        is_known = is_named(found.image_id, request.headers.getall(hdrs.IF_NONE_MATCH, ()))
        response = web.Response(status=_NOT_MODIFIED) if is_known else _drawn(found)
        response.headers.update(_policy(found, request))
        return response

    @described(
        "Replaces an image.",
        plain("The id of the image."),
        upload=("image/*", "multipart/form-data"),
        refusals=(415,),
    )
    async def put(self, request: web.Request) -> web.Response:
        tenant_id, caller, owner = tenant_of(request), self._calls.caller(request), self._owner(request)
        admitted = await self._images.AdmitImage(
            pb.AdmitImageRequest(tenant_id=tenant_id, caller=caller, owner=owner),
            timeout=self._calls.timeout,
        )
        with self._uploads.turn((tenant_id, owner.id)):
            content = await read_image(
                request, max_bytes=admitted.max_bytes, seconds=self._calls.long_timeout
            )
            kept = await self._images.PutImage(
                pb.PutImageRequest(tenant_id=tenant_id, caller=caller, owner=owner, content=content),
                timeout=self._calls.long_timeout,
            )
        return web.Response(text=kept.image_id, headers={"Clear-Site-Data": '"cache"'})

    @described("Deletes an image.", done())
    async def delete(self, request: web.Request) -> web.Response:
        asked = pb.DeleteImageRequest(
            tenant_id=tenant_of(request),
            caller=self._calls.caller(request),
            owner=self._owner(request),
            image_id=_image_id(request),
        )
        await self._images.DeleteImage(asked, timeout=self._calls.timeout)
        return web.Response()

    def _owner(self, request: web.Request) -> pb.ImageOwner:
        return pb.ImageOwner(kind=self._kind, id=named(request, "id"))


def _image_id(request: web.Request) -> str:
    return named(request, "image_id") if "image_id" in request.match_info else ""


def _drawn(found: pb.GetImageResponse) -> web.Response:
    return web.Response(body=found.content, content_type=found.media_type)


def _policy(found: pb.GetImageResponse, request: web.Request) -> Mapping[str, str]:
    is_lasting = found.image_id in {_image_id(request), request.query.get("updated", "")}
    whose = "public" if found.is_public else "private"
    how = _FOR_EVER if is_lasting and found.is_public else _ASKED_ANEW
    return {
        hdrs.ETAG: f'"{found.image_id}"',
        hdrs.CACHE_CONTROL: f"{whose}, {how}",
        "Content-Security-Policy": _POLICY,
        # Pages of relying parties show public images too.
        "Cross-Origin-Resource-Policy": "cross-origin" if found.is_public else "same-origin",
    }
