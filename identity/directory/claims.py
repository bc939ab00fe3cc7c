"""What a token says of its bearer, as mapping rules compare it."""

from collections.abc import Iterator, Mapping

import msgspec

from server.platform.errors import InvalidArgument

Claims = Mapping[str, frozenset[str]]
"""By name the texts that a claim holds."""

NO_CLAIMS: Claims = {}


def claims_of(document: bytes) -> Claims:
    """Read the claims of a token, a JSON object; raises InvalidArgument.

    A string holds itself, a number and a boolean hold their JSON text, an array holds what its elements do.
    """
    try:
        members = msgspec.json.decode(document, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidArgument("claims: expected a JSON object") from error
    return {name: frozenset(_texts(value)) for name, value in members.items()}


def _texts(value: object) -> Iterator[str]:
    elements = value if isinstance(value, list) else (value,)
    for element in elements:
        match element:
            case str():
                yield element
            case bool() | int() | float():
                yield msgspec.json.encode(element).decode()
            case _:
                pass
