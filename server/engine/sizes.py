"""Size limits of what one element writes: an incident is raised, and nothing is written.

The budget of the element's expressions bounds the cost of measuring.
"""

from collections.abc import Mapping

from server import feel
from server.engine.incidents import ErrorType, Incident
from server.engine.step import Step
from server.engine.variables import Variables, encode, octets


def text_of(step: Step, value: feel.Value, what: str) -> str:
    """The JSON text of a value; raises Incident when it is too large. `what` names the value."""
    text = encode(value)
    expect_fits(step, octets(text), what)
    return text


def texts_of(step: Step, values: Mapping[str, feel.Value], what: str) -> Variables:
    """The JSON texts of these values; raises Incident when they are too large together."""
    texts = {name: encode(value) for name, value in values.items()}
    expect_fits(step, sum(map(octets, texts.values())), what)
    return texts


def expect_fits(step: Step, size: int, what: str) -> None:
    """Raises Incident when the size exceeds the limit."""
    most = step.state.limits.message_octets
    if size > most:
        raise exceeded(what, most, size)


def exceeded(what: str, most: int, size: int) -> Incident:
    message = f"Expected {what} to have at most {most} bytes, found {size}"
    return Incident(ErrorType.MESSAGE_SIZE_EXCEEDED, message)
