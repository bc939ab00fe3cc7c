"""The size of what one element writes: more than a message may hold is an incident, and nothing of it is written.

The budget of the element's expressions bounds what is measured.
"""

from collections.abc import Mapping

from server import feel
from server.engine.incidents import ErrorType, Incident
from server.engine.step import Step
from server.engine.variables import Variables, encode, octets


def text_of(step: Step, value: feel.Value, what: str) -> str:
    """The JSON text of a value that `what` names; raises Incident."""
    text = encode(value)
    expect_fits(step, octets(text), what)
    return text


def texts_of(step: Step, values: Mapping[str, feel.Value], what: str) -> Variables:
    """Variables of these values; raises Incident when they are too large together."""
    texts = {name: encode(value) for name, value in values.items()}
    expect_fits(step, sum(map(octets, texts.values())), what)
    return texts


def expect_fits(step: Step, size: int, what: str) -> None:
    """Raises Incident."""
    most = step.state.limits.message_octets
    if size > most:
        raise exceeded(what, most, size)


def exceeded(what: str, most: int, size: int) -> Incident:
    message = f"Expected {what} to have at most {most} bytes, found {size}"
    return Incident(ErrorType.MESSAGE_SIZE_EXCEEDED, message)
