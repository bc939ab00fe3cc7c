"""Fetching of documents over real HTTP, and refused responses."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from identity.delivery.http.destinations import Destinations
from identity.delivery.http.documents import HttpDocuments, UnreadableDocument
from identity.delivery.http.published_keys import PublishedKeys
from server.platform.clock import SystemClock
from tests.identity.deployment import LOOPBACK

LARGEST = 65_536
LOCAL = Destinations.of(LOOPBACK)
DOCUMENT = '{"keys":[]}'


async def answer(request: web.Request) -> web.StreamResponse:
    match request.path:
        case "/elsewhere":
            raise web.HTTPFound("/document")
        case "/packed":
            response = web.Response(text="x" * LARGEST * 100)
            response.enable_compression(web.ContentCoding.gzip)
            return response
        case "/octets":
            return web.Response(body=b"\xff")
        case "/broken":
            raise web.HTTPInternalServerError(text=DOCUMENT)
        case "/empty":
            return web.Response(status=204)
        case "/endless":
            return await endless(request)
        case "/letters":
            return web.Response(text="x" * int(request.query["octets"]))
        case _:
            return web.Response(text=DOCUMENT)


async def accepted(request: web.Request) -> web.Response:
    return web.Response(text=request.headers["Accept"])


async def endless(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    while request.transport is not None and not request.transport.is_closing():
        await response.write(b"x" * LARGEST)
    return response


@pytest.fixture
async def publisher() -> AsyncIterator[str]:
    """Address of a server on this machine."""
    application = web.Application()
    application.router.add_get("/accepted", accepted)
    application.router.add_get("/{path}", answer)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def test_a_document_is_read_as_it_is(publisher: str) -> None:
    async with HttpDocuments(LOCAL) as documents:
        assert await documents.read(f"{publisher}/document") == DOCUMENT
        assert await documents.read(publisher.replace("127.0.0.1", "localhost") + "/document") == DOCUMENT


async def test_whoever_reads_says_what_it_takes(publisher: str) -> None:
    async with HttpDocuments(LOCAL) as documents:
        assert await documents.read(f"{publisher}/accepted") == "application/json"
        assert await documents.read(f"{publisher}/accepted", accept="application/jwt") == "application/jwt"


@pytest.mark.parametrize("path", ["elsewhere", "packed", "octets", "broken", "empty", "endless"])
async def test_what_is_no_document_that_we_take_is_not_read(publisher: str, path: str) -> None:
    async with HttpDocuments(LOCAL) as documents:
        with pytest.raises(UnreadableDocument):
            await documents.read(f"{publisher}/{path}")


async def test_a_document_has_64_kib_at_most(publisher: str) -> None:
    async with HttpDocuments(LOCAL) as documents:
        assert len(await documents.read(f"{publisher}/letters?octets={LARGEST}")) == LARGEST
        with pytest.raises(UnreadableDocument):
            await documents.read(f"{publisher}/letters?octets={LARGEST + 1}")


async def test_nothing_of_this_machine_is_read_unless_its_network_is_allowed(publisher: str) -> None:
    async with HttpDocuments(Destinations()) as documents:
        for address in (publisher, publisher.replace("127.0.0.1", "localhost")):
            with pytest.raises(UnreadableDocument):
                await documents.read(f"{address}/document")


async def connections_to(uri: str) -> int:
    """Return the number of connections to a local port when the address is fetched; `{port}` is the port."""
    came = 0

    async def note(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal came
        came += 1
        writer.close()

    server = await asyncio.start_server(note, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, HttpDocuments(Destinations()) as documents:
        with pytest.raises(UnreadableDocument):
            await documents.read(uri.format(port=port))
    return came


@pytest.mark.parametrize(
    "uri",
    [
        *("https://127.0.0.1:{port}/", "https://localhost:{port}/", "https://[::ffff:127.0.0.1]:{port}/"),
        *("https://2130706433:{port}/", "https://127.1:{port}/", "https://0.0.0.0:{port}/"),
    ],
)
async def test_no_way_of_writing_an_address_leads_to_this_machine(uri: str) -> None:
    assert await connections_to(uri) == 0


@pytest.mark.parametrize(
    "uri",
    [
        *("http://192.0.2.1/", "http://169.254.169.254/latest/meta-data", "https://169.254.169.254/"),
        *("ftp://localhost/", "file:///etc/passwd", "https://", "no address", ""),
    ],
)
async def test_elsewhere_nothing_is_read_without_tls_or_where_nobody_may_ask(uri: str) -> None:
    async with HttpDocuments(LOCAL) as documents:
        with pytest.raises(UnreadableDocument):
            await documents.read(uri)


async def test_an_unreadable_key_set_has_no_keys(publisher: str) -> None:
    async with HttpDocuments(LOCAL) as documents:
        keys = PublishedKeys(documents, SystemClock())

        assert await keys.at(f"{publisher}/broken", kid="") == []
