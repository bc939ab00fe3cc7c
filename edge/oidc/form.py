"""The form of a protocol request: RFC 6749 §3.2, application/x-www-form-urlencoded in UTF-8."""

from collections.abc import Mapping
from urllib.parse import parse_qsl

from aiohttp import web

from edge.oidc.refusal import invalid_request

Form = Mapping[str, tuple[str, ...]]

_MEDIA_TYPE = "application/x-www-form-urlencoded"
_MAX_PARAMETERS = 64

# RFC 8707 §2: the one parameter that may come more than once.
_REPEATABLE = frozenset({"resource"})


async def read_form(request: web.Request, max_bytes: int) -> Form:
    """Read a bounded body; a parameter without a value counts as left out. Raises Refused."""
    if request.content_type != _MEDIA_TYPE:
        raise invalid_request(f"the body must be {_MEDIA_TYPE}")
    form: dict[str, tuple[str, ...]] = {}
    for name, value in _parameters(await _read(request, max_bytes)):
        if name in form and name not in _REPEATABLE:
            raise invalid_request("a parameter comes more than once")
        form[name] = (*form.get(name, ()), value)
    return {name: tuple(filter(None, values)) for name, values in form.items()}


def single(form: Form, name: str) -> str:
    """Value of a parameter, empty when it was left out."""
    return next(iter(form.get(name, ())), "")


async def _read(request: web.Request, max_bytes: int) -> bytes:
    body = bytearray()
    async for chunk in request.content.iter_any():
        body += chunk
        if len(body) > max_bytes:
            raise invalid_request(f"the body must not exceed {max_bytes} bytes", status=413)
    return bytes(body)


def _parameters(body: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            body.decode(), keep_blank_values=True, errors="strict", max_num_fields=_MAX_PARAMETERS
        )
    except ValueError as error:
        raise invalid_request(f"the body must be at most {_MAX_PARAMETERS} parameters in UTF-8") from error
