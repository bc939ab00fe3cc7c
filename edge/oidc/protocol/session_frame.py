"""GET /oidc/check_session: the frame of OpenID Connect Session Management 1.0 §3.3.

Pages of clients load the frame and ask it whether the session has changed. It shows nothing and takes no input, so every
site may frame it; it reads one cookie, which identifies nobody.
"""

from html import escape
from typing import Final

from aiohttp import web

from edge.oidc.access.browsers import Browsers
from edge.oidc.openapi.operation import Caller, described, page
from edge.oidc.pages.assets import PageAssets

_SCRIPT: Final = "check_session.js"
_PAGE: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Session</title>
<script src="{script}" data-cookie="{cookie}"></script>
</html>
"""


class SessionFrameEndpoint:
    def __init__(self, assets: PageAssets, browsers: Browsers) -> None:
        self._assets = assets
        self._browsers = browsers

    @described(
        "The frame that tells pages of clients whether the session has changed: Session Management 1.0 §3.3.",
        page("The frame."),
        caller=Caller.ANYBODY,
    )
    async def get(self, request: web.Request) -> web.Response:
        text = _PAGE.format(
            script=escape(self._assets.addresses[_SCRIPT]), cookie=escape(self._browsers.states.name(request))
        )
        return web.Response(text=text, content_type="text/html")
