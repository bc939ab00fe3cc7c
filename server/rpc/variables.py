"""Variables at the border: the JSON object of a request becomes `Variables`, or the request is refused."""

from server.engine.variables import MalformedVariables, Variables, split
from server.platform.errors import InvalidArgument


def variables_of(document: bytes) -> Variables:
    try:
        return split(document)
    except MalformedVariables as error:
        raise InvalidArgument(f"variables: {error}", field="variables") from error
