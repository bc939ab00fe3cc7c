"""Content security policies of the provider's pages: Content Security Policy Level 3."""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

# An origin, or a private-use scheme; it cannot contain the end of the directive.
_SOURCE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(//[A-Za-z0-9.:\[\]-]+)?")


def security_policy(nonce: str, *form_origins: str, frame_origins: Iterable[str] = ()) -> str:
    """Permit resources of the page itself; its forms may also be posted or redirected to `form_origins`.

    Frames load `frame_origins` only, and without any there are none.
    """
    # Browsers apply form-action to the redirect after a form as well.
    form_action = " ".join(("'self'", *filter(_SOURCE.fullmatch, form_origins)))
    frames = " ".join(filter(_SOURCE.fullmatch, frame_origins))
    return "; ".join(
        (
            "default-src 'none'",
            *((f"frame-src {frames}",) if frames else ()),
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
    """Permit display only: no script runs, no form is sent, and the origin is opaque."""
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
    """Return the origin of a redirect URI, or its scheme if it has no host."""
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else f"{parts.scheme}:"
