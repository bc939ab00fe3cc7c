"""Static files of the pages, at addresses that change with their content."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from edge.oidc.access.refusal import Refused
from edge.oidc.prefix import PREFIX

_FOLDER = Path(__file__).parent / "static"
_MEDIA_TYPES = {
    ".css": "text/css",
    ".ico": "image/x-icon",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
_FAVICON = "favicon.ico"
_HASH_LENGTH = 16
_FOR_EVER = "public, max-age=31536000, immutable"
_ONE_DAY = "public, max-age=86400"


@dataclass(frozen=True, slots=True)
class _Asset:
    content: bytes
    media_type: str


class Assets:
    def __init__(self) -> None:
        contents = {path.name: path.read_bytes() for path in sorted(_FOLDER.iterdir())}
        self._names = {name: _hashed(name, content) for name, content in contents.items()}
        self.addresses = {name: f"{PREFIX}/static/{hashed}" for name, hashed in self._names.items()}
        self._assets = {
            hashed: _Asset(contents[name], _MEDIA_TYPES[Path(name).suffix])
            for name, hashed in self._names.items()
        }

    async def get(self, request: web.Request) -> web.Response:
        asset = self._assets.get(request.match_info["name"])
        if asset is None:
            raise Refused(404, "NotFound", "there is no such file")
        return _answer(asset, _FOR_EVER)

    async def get_favicon(self, _request: web.Request) -> web.Response:
        """Return the icon at the address that browsers request by themselves."""
        return _answer(self._assets[self._names[_FAVICON]], _ONE_DAY)


def _answer(asset: _Asset, caching: str) -> web.Response:
    charset = "utf-8" if asset.media_type.startswith("text/") else None
    return web.Response(
        body=asset.content,
        content_type=asset.media_type,
        charset=charset,
        headers={"Cache-Control": caching},
    )


def _hashed(name: str, content: bytes) -> str:
    path = Path(name)
    return f"{path.stem}.{hashlib.sha256(content).hexdigest()[:_HASH_LENGTH]}{path.suffix}"
