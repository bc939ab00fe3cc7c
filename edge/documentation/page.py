"""The HTML of the page at `/docs`, and the headers of its responses."""

from collections.abc import Mapping

from markupsafe import Markup

SCRIPT, STYLES = "docs.js", "docs.css"
VIEWER_SCRIPT, VIEWER_STYLES = "swagger-ui-bundle.js", "swagger-ui.css"

_PAGE = Markup("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>HTTP API · Gnomon</title>
<link rel="icon" href="/favicon.ico">
{head}</head>
<body>
<header><a href="/">Gnomon</a> <a href="/docs">Process API</a> <a href="/docs/provider">OpenID Provider</a>
<a href="{document}">OpenAPI document</a> <a href="/console/">Console</a></header>
{main}</body>
</html>
""")
_HEAD = Markup("""<link rel="stylesheet" href="{viewer_styles}" nonce="{nonce}">
<link rel="stylesheet" href="{styles}" nonce="{nonce}">
<script defer src="{viewer_script}" nonce="{nonce}"></script>
<script defer src="{script}" nonce="{nonce}"></script>
""")
_BARE_HEAD = Markup("""<link rel="stylesheet" href="{styles}" nonce="{nonce}">
""")
_DOCUMENT = Markup("""<div id="document" data-address="{document}">
<noscript><p>The viewer needs JavaScript. Programs read the <a href="{document}">OpenAPI document</a>.</p></noscript>
</div>
""")
_WITHOUT_VIEWER = Markup("""<main>
<h1>The viewer is not installed</h1>
<p><code>make viewer</code> fetches it with npm; restart the server afterwards. Programs read the
<a href="{document}">OpenAPI document</a>.</p>
</main>
""")


def html_of(addresses: Mapping[str, str], nonce: str, *, document: str) -> str:
    """Return the page that shows the OpenAPI document at an address.

    `addresses` are those of the static files by name, which may lack the viewer.
    """
    if VIEWER_SCRIPT not in addresses:
        head = _BARE_HEAD.format(styles=addresses[STYLES], nonce=nonce)
        return _PAGE.format(head=head, document=document, main=_WITHOUT_VIEWER.format(document=document))
    head = _HEAD.format(
        viewer_styles=addresses[VIEWER_STYLES],
        styles=addresses[STYLES],
        viewer_script=addresses[VIEWER_SCRIPT],
        script=addresses[SCRIPT],
        nonce=nonce,
    )
    return _PAGE.format(head=head, document=document, main=_DOCUMENT.format(document=document))


def headers_of(nonce: str) -> Mapping[str, str]:
    """Permit scripts and styles of the page itself, requests to our own origin, and images as data."""
    policy = (
        "default-src 'none'",
        f"script-src 'nonce-{nonce}'",
        f"style-src 'nonce-{nonce}'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
    return {
        "Content-Security-Policy": "; ".join(policy),
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "X-Robots-Tag": "noindex, nofollow",
        "Cache-Control": "no-store",
    }
