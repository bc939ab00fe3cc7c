"""The limit: an aiohttp server that reads a body and answers with it, and does nothing else."""

import sys

import uvloop
from aiohttp import web


async def _echo(request: web.Request) -> web.Response:
    return web.Response(body=await request.read(), content_type="application/json")


def main() -> None:
    uvloop.install()
    app = web.Application()
    app.router.add_post("/echo", _echo)
    web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None, access_log=None)


if __name__ == "__main__":
    main()
