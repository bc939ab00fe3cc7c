"""What a page may load and where its forms may lead: Content Security Policy Level 3."""

import re
from urllib.parse import urlsplit

# An origin, or the scheme of an application; nothing that could end the directive.
_SOURCE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(//[A-Za-z0-9.:\[\]-]+)?")


def security_policy(nonce: str, form_origin: str = "") -> str:
    """Allow what the page itself has; `form_origin` is where its form may be redirected to besides."""
    is_source = _SOURCE.fullmatch(form_origin) is not None
    # Browsers hold the redirect that answers a form to form-action too.
    form_action = f"'self' {form_origin}" if is_source else "'self'"
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'nonce-{nonce}'",
            f"style-src 'nonce-{nonce}'",
            "img-src 'self' data:",
            "connect-src 'self'",
            "worker-src 'self'",
            f"form-action {form_action}",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        )
    )


def preview_policy(nonce: str) -> str:
    """Allow to look at a page: no script runs, no form is sent, and it has an origin of its own."""
    return "; ".join(
        (
            "sandbox",
            "default-src 'none'",
            f"style-src 'nonce-{nonce}'",
            "img-src 'self'",
            "form-action 'none'",
            "base-uri 'none'",
            "frame-ancestors 'self'",
        )
    )


def origin_of(uri: str) -> str:
    """Return the origin of a redirect URI, the scheme where it has none."""
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else f"{parts.scheme}:"
