"""Bytes that are not UTF-8 text never cause an internal error."""

import asyncio

import pytest

from tests.edge.oidc.protocol.provider import Provider

REQUESTS = [
    pytest.param(b"GET /auth/v1/\xff/oidc/userinfo", b"Authorization: DPoP x\r\nDPoP: x\r\n", id="tenant"),
    pytest.param(b"GET /auth/v1/%ff/oidc/userinfo", b"Authorization: DPoP x\r\nDPoP: x\r\n", id="encoded"),
    pytest.param(b"GET /auth/v1/oidc/certs/\xff", b"", id="key id"),
    pytest.param(b"GET /auth/v1/oidc/userinfo", b"Authorization: Bearer \xff\r\n", id="token"),
    pytest.param(b"GET /auth/v1/oidc/userinfo", b"Authorization: Bearer x\r\nDPoP: \xff\r\n", id="proof"),
    pytest.param(b"GET /auth/v1/oidc/authorize?state=\xff", b"", id="query"),
    pytest.param(b"GET /auth/v1/device?code=%ed%a0%80", b"", id="surrogate"),
    pytest.param(b"GET /auth/v1/oidc/sessioninfo", b"User-Agent: \xff\r\n", id="user agent"),
    pytest.param(b"GET /auth/v1/oidc/sessioninfo", b"Cookie: __Host-GnomonSession=\xff\r\n", id="cookie"),
    pytest.param(b"POST /auth/v1/oidc/introspect", b"Authorization: Bearer \xff\r\n", id="authorization"),
    pytest.param(b"POST /auth/v1/oidc/logout", b"x-csrf-token: \xff\r\n", id="csrf token"),
    pytest.param(b"POST /auth/v1/oidc/rotate_jwk", b"Authorization: \xff\r\n", id="caller"),
    pytest.param(b"GET /auth/v1/static/\xff", b"", id="file"),
]


@pytest.mark.parametrize(("line", "headers"), REQUESTS)
async def test_it_is_answered_and_no_fault(provider: Provider, line: bytes, headers: bytes) -> None:
    url = provider.http.make_url("/")
    reader, writer = await asyncio.open_connection(url.host, url.port)
    form = b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 7\r\n\r\ntoken=x"
    end = form if line.startswith(b"POST") else b"\r\n"

    writer.write(line + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + headers + end)
    async with asyncio.timeout(10):
        answer = await reader.read()
    writer.close()

    status = int(answer.split(b" ")[1])
    assert 200 <= status < 500, answer
