"""GET /auth/v1/, where everything unknown below /auth leads."""

from aiohttp import hdrs, web

PREFIX = "/auth/v1"

_CONTENT_SECURITY_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

_PAGE = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>OpenID Connect provider</title>
</head>
<body>
<main>
<h1>OpenID Connect provider</h1>
<ul>
<li><a href="{PREFIX}/.well-known/openid-configuration">Provider metadata</a></li>
<li><a href="{PREFIX}/oidc/certs">Published keys</a></li>
</ul>
</main>
</body>
</html>
"""


async def entry_page(_request: web.Request) -> web.Response:
    headers = {"Content-Security-Policy": _CONTENT_SECURITY_POLICY}
    return web.Response(text=_PAGE, content_type="text/html", headers=headers)


async def to_entry_page(_request: web.Request) -> web.Response:
    """Redirect by path alone: the Host header decides nothing."""
    return web.Response(status=308, headers={hdrs.LOCATION: f"{PREFIX}/"})
