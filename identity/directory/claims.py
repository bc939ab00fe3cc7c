"""Claims of a token in the form that mapping rules compare."""

from collections.abc import Iterator, Mapping

import msgspec

from server.platform.errors import InvalidArgument

Claims = Mapping[str, frozenset[str]]
"""The texts of a claim, by its name."""

NO_CLAIMS: Claims = {}


def claims_of(document: bytes) -> Claims:
    """Read the claims of a token, a JSON object; raises InvalidArgument.

    A string has itself as its value. A number or boolean has its JSON text, and an array has the values of its
    elements.
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
