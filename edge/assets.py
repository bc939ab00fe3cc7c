"""Static files of pages, at addresses that change with their content."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from aiohttp import hdrs, web

from edge.compression import GZIP, accepts_gzip, compressed

_MEDIA_TYPES = {
    ".css": "text/css",
    ".ico": "image/x-icon",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
_NONE: Mapping[str, bytes] = {}
_HASH_LENGTH = 16
_FOR_EVER = "public, max-age=31536000, immutable"
# More than all files of a process, each of which is compressed once.
_KEPT = 256


@dataclass(frozen=True, slots=True)
class _Asset:
    """`compressed` is empty where compression gains nothing."""

    content: bytes
    media_type: str
    compressed: bytes = b""


class Assets:
    """The files of a folder, and those in `made`, at addresses below `prefix`; an absent folder has no files."""

    def __init__(self, folder: Path, prefix: str, made: Mapping[str, bytes] = _NONE) -> None:
        files = sorted(folder.iterdir()) if folder.is_dir() else []
        contents = {path.name: path.read_bytes() for path in files if path.suffix in _MEDIA_TYPES} | dict(
            made
        )
        self._names = {name: _hashed(name, content) for name, content in contents.items()}
        self.addresses = {name: f"{prefix}/{hashed}" for name, hashed in self._names.items()}
        self._assets = {self._names[name]: _asset(name, content) for name, content in contents.items()}

    def get(self, request: web.Request) -> web.Response | None:
        """Return the file that the address names, None for an unknown one."""
        asset = self._assets.get(request.match_info["name"])
        return None if asset is None else _response(asset, request, caching=_FOR_EVER)

    def named(self, name: str, request: web.Request, *, caching: str) -> web.Response:
        """Return a file by its name in the folder, for an address that does not change with its content."""
        return _response(self._assets[self._names[name]], request, caching=caching)


def _response(asset: _Asset, request: web.Request, *, caching: str) -> web.Response:
    headers = {hdrs.CACHE_CONTROL: caching, hdrs.X_CONTENT_TYPE_OPTIONS: "nosniff"}
    if asset.compressed:
        headers[hdrs.VARY] = hdrs.ACCEPT_ENCODING
    is_compressed = bool(asset.compressed) and accepts_gzip(request)
    if is_compressed:
        headers[hdrs.CONTENT_ENCODING] = GZIP
    return web.Response(
        body=asset.compressed if is_compressed else asset.content,
        content_type=asset.media_type,
        charset="utf-8" if asset.media_type.startswith("text/") else None,
        headers=headers,
    )


@lru_cache(_KEPT)
def _asset(name: str, content: bytes) -> _Asset:
    is_text = not name.endswith((".ico", ".woff2"))
    return _Asset(content, _MEDIA_TYPES[Path(name).suffix], compressed(content) if is_text else b"")


def _hashed(name: str, content: bytes) -> str:
    path = Path(name)
    return f"{path.stem}.{hashlib.sha256(content).hexdigest()[:_HASH_LENGTH]}{path.suffix}"
