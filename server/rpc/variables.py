"""Converts variables from the JSON object of a request, or refuses the request."""

from server.engine.variables import MalformedVariables, Variables, split
from server.platform.errors import InvalidArgument


def variables_of(document: bytes) -> Variables:
    try:
        return split(document)
    except MalformedVariables as error:
        raise InvalidArgument(f"variables: {error}", field="variables") from error
