"""Scripts and styles of the pages, at addresses that change with their content."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from edge.oidc.entry import PREFIX
from edge.oidc.refusal import Refused

_FOLDER = Path(__file__).parent / "static"
_MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript"}
_HASH_LENGTH = 16
_FOR_EVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class _Asset:
    content: bytes
    media_type: str


class Assets:
    def __init__(self) -> None:
        contents = {path.name: path.read_bytes() for path in sorted(_FOLDER.iterdir())}
        names = {name: _hashed(name, content) for name, content in contents.items()}
        self.addresses = {name: f"{PREFIX}/static/{hashed}" for name, hashed in names.items()}
        self._assets = {
            hashed: _Asset(contents[name], _MEDIA_TYPES[Path(name).suffix]) for name, hashed in names.items()
        }

    async def get(self, request: web.Request) -> web.Response:
        asset = self._assets.get(request.match_info["name"])
        if asset is None:
            raise Refused(404, "NotFound", "there is no such file")
        return web.Response(
            body=asset.content,
            content_type=asset.media_type,
            charset="utf-8",
            headers={"Cache-Control": _FOR_EVER},
        )


def _hashed(name: str, content: bytes) -> str:
    path = Path(name)
    return f"{path.stem}.{hashlib.sha256(content).hexdigest()[:_HASH_LENGTH]}{path.suffix}"
