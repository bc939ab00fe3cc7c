"""A service with the interface of Have I Been Pwned on this machine."""

import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

BREACHED = "an old song about the wide sea"

PADDING = "0" * 34


@dataclass
class Breaches:
    """`answer` overrides what it answers; `asked` are the paths and headers of its requests."""

    url: str = ""
    answer: web.Response | None = None
    asked: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)

    async def serve(self, request: web.Request) -> web.Response:
        self.asked.append((request.path, request.headers))
        if self.answer is not None:
            return self.answer
        found = digits(BREACHED)
        lines = [f"{PADDING}{number}:{number}" for number in range(1, 4)]
        if request.path.endswith(found[:5]):
            lines.append(f"{found[5:]}:3861493")
        return web.Response(text="\r\n".join([*lines, "F" * 35 + ":0"]))


@asynccontextmanager
async def breaches() -> AsyncIterator[Breaches]:
    service = Breaches()
    app = web.Application()
    app.router.add_get("/range/{prefix}", service.serve)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        service.url = f"http://127.0.0.1:{runner.addresses[0][1]}/range/"
        yield service
    finally:
        await runner.cleanup()


def digits(password: str) -> str:
    return hashlib.sha1(password.encode()).hexdigest().upper()  # noqa: S324  # the interface of the service
