"""Parameters of protocol requests: RFC 6749 §3.1 and §3.2, application/x-www-form-urlencoded in UTF-8."""

from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl

from aiohttp import web

from edge.oidc.access.body import read_body
from edge.oidc.access.refusal import invalid_request

Form = Mapping[str, tuple[str, ...]]
Parameters = list[tuple[str, str]]

MEDIA_TYPE = "application/x-www-form-urlencoded"
_MAX_PARAMETERS = 64

# RFC 8707 §2: the only parameter that may be repeated.
_REPEATABLE = frozenset({"resource"})


async def read_form(request: web.Request, max_bytes: int) -> Form:
    """Read a bounded form; a parameter without a value counts as absent. Raises Refused."""
    return form_of(await read_parameters(request, max_bytes))


async def read_parameters(
    request: web.Request, max_bytes: int, *, max_parameters: int = _MAX_PARAMETERS
) -> Parameters:
    """Read a bounded form without changes; raises Refused."""
    if request.content_type != MEDIA_TYPE:
        raise invalid_request(f"the body must be {MEDIA_TYPE}")
    try:
        body = (await read_body(request, max_bytes)).decode()
    except UnicodeDecodeError as error:
        raise _malformed(max_parameters) from error
    return _parameters(body, max_parameters)


def query_parameters(request: web.Request) -> Parameters:
    """Return the query parameters without changes; raises Refused."""
    return _parameters(request.rel_url.raw_query_string, _MAX_PARAMETERS)


def form_of(parameters: Iterable[tuple[str, str]]) -> Form:
    """Group parameters by name; raises Refused for a repeated one, except `resource`."""
    form: dict[str, tuple[str, ...]] = {}
    for name, value in parameters:
        if name in form and name not in _REPEATABLE:
            raise invalid_request("a parameter comes more than once")
        form[name] = (*form.get(name, ()), value)
    return {name: tuple(filter(None, values)) for name, values in form.items()}


def single(form: Form, name: str) -> str:
    """Return the value of a parameter, empty when absent."""
    values = form.get(name)
    return values[0] if values else ""


def _parameters(text: str, most: int) -> Parameters:
    try:
        # Bytes that are not UTF-8 are lone surrogates in the text, which cannot be encoded.
        text.encode()
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=most)
    except ValueError as error:
        raise _malformed(most) from error


def _malformed(most: int) -> Exception:
    return invalid_request(f"expected at most {most} parameters in UTF-8")
