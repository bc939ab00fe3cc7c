"""Static files of the provider's pages, and the icon that browsers request by themselves."""

from pathlib import Path

from aiohttp import web

from edge.assets import Assets
from edge.oidc.access.refusal import Refused
from edge.oidc.openapi.operation import UNCHANGED, Answer, Caller, described
from edge.oidc.prefix import PREFIX

FOLDER = Path(__file__).parent / "static"
_FAVICON = "favicon.ico"
_ONE_DAY = "public, max-age=86400"


class PageAssets:
    def __init__(self) -> None:
        self._files = Assets(FOLDER, f"{PREFIX}/static")
        self.addresses = self._files.addresses

    @described(
        "A file of the pages.",
        Answer(status=200, text="The file.", media_type="*/*"),
        UNCHANGED,
        caller=Caller.ANYBODY,
        refusals=(404,),
    )
    async def get(self, request: web.Request) -> web.Response:
        found = self._files.get(request)
        if found is None:
            raise Refused(404, "NotFound", "there is no such file")
        return found

    async def get_favicon(self, request: web.Request) -> web.Response:
        return self._files.named(_FAVICON, request, caching=_ONE_DAY)
