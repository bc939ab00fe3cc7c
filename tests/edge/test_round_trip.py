"""Encoding a message as a response and decoding it as a request gives the same message."""

from dataclasses import replace
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given, settings
from hypothesis import strategies as st
from multidict import MultiDict

from edge.config import Release
from edge.contract import BodyForm, routes
from edge.fields import Kind, enum_of, integer_bounds, is_nullable, kind_of, map_value, message_of, rule_of
from edge.transcode import decoder_of, encoder_of
from tests.edge.sample import SEND

JSON_OBJECTS = st.sampled_from([b"{}", b'{"a":1}', b'{"a":[null,1.50,"\\u00e9"],"b":{"c":9007199254740993}}'])
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def messages(message: type[Message]) -> st.SearchStrategy[Message]:
    fields = {field.name: _values(field) for field in message.DESCRIPTOR.fields}
    return st.fixed_dictionaries(fields).map(lambda members: message(**members))


def _values(field: FieldDescriptor) -> st.SearchStrategy[Any]:
    value = map_value(field)
    if value is not None:
        return st.dictionaries(TEXTS, _single(value), max_size=3)
    if field.is_repeated:
        return st.lists(_single(field), min_size=1, max_size=3)
    return st.none() | _single(field) if is_nullable(field) else _single(field)


def _single(field: FieldDescriptor) -> st.SearchStrategy[Any]:
    match kind_of(field):
        case Kind.MESSAGE:
            return messages(GetMessageClass(message_of(field)))
        case Kind.ENUM:
            return st.sampled_from([value.number for value in enum_of(field).values if value.number])
        case Kind.INTEGER:
            return st.integers(*integer_bounds(field))
        case kind:
            # An empty text may be encoded as another one.
            return _VALUES[kind].filter(bool) if rule_of(field).otherwise else _VALUES[kind]


_VALUES: dict[Kind, st.SearchStrategy[Any]] = {
    Kind.KEY: st.integers(1, 2**63 - 1),
    Kind.NUMBER: st.floats(allow_nan=False, allow_infinity=False),
    Kind.BOOLEAN: st.booleans(),
    Kind.STRING: TEXTS,
    Kind.TIMESTAMP: st.builds(
        Timestamp,
        seconds=st.integers(-62135596800, 253402300799),
        nanos=st.integers(0, 999).map(lambda n: n * 10**6),
    ),
    Kind.BYTES: st.binary(max_size=20),
    Kind.OBJECT: JSON_OBJECTS,
    Kind.VALUE: JSON_OBJECTS | st.sampled_from([b"null", b"1", b'"x"', b"[]"]),
}

ANSWERS = {route.policy.response: route for route in (*routes(), SEND) if route.response_field is None}


@pytest.mark.parametrize("response", [pytest.param(kind, id=kind.DESCRIPTOR.name) for kind in ANSWERS])
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_decoding_an_encoded_message_gives_the_message(response: type[Message], data: st.DataObject) -> None:
    message = data.draw(messages(response))
    policy = replace(
        SEND.policy, request=response, response=response, descriptor=ANSWERS[response].policy.descriptor
    )
    fields = tuple(response.DESCRIPTOR.fields)
    route = replace(SEND, policy=policy, body=BodyForm.MEMBERS, body_fields=fields)
    text = encoder_of(route, Release.CAMUNDA_8_10)(message) or b""

    again = decoder_of(route)(text, "application/json", path={}, query=MultiDict())

    assert again == message
