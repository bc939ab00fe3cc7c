from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from multidict import MultiDict

from edge.contract import routes
from edge.transcode import Decode, decoder_of
from server.platform.errors import InvalidArgument
from tests.edge.sample import ROUTES, Everything, Simple

CONTRACT = {route.operation_id: decoder_of(route) for route in routes()}
SAMPLE = {name: decoder_of(route) for name, route in ROUTES.items()}
JSON = "application/json"
MAX_INT64 = 2**63 - 1


def decode(text: str | bytes, decoder: Decode = SAMPLE["send"], **parts: Any) -> Any:
    body = text if isinstance(text, bytes) else text.encode()
    query = MultiDict(parts.get("query", {}))
    return decoder(body, parts.get("content_type", JSON), path=parts.get("path", {}), query=query)


def refusal(text: str | bytes, decoder: Decode = SAMPLE["send"], **parts: Any) -> str:
    with pytest.raises(InvalidArgument) as caught:
        decode(text, decoder, **parts)
    return caught.value.detail


ACCEPTED = [
    ("key", f'"{MAX_INT64}"', MAX_INT64),
    ("key", '"1"', 1),
    ("long", "-9223372036854775808", -(2**63)),
    ("long", "0", 0),
    ("short", "-2147483648", -(2**31)),
    ("unsigned", "18446744073709551615", 2**64 - 1),
    ("doubleValue", "1.5", 1.5),
    ("doubleValue", "2", 2.0),
    ("flag", "true", True),
    ("text", '"\\u00e9 \\ud83d\\ude00"', "é 😀"),
    ("text", '""', ""),
    ("color", '"DARK_BLUE"', 2),
    ("binary", '"AAH/"', b"\x00\x01\xff"),
    ("object", '{"n": 9007199254740993, "d": 0.10}', b'{"n": 9007199254740993, "d": 0.10}'),
    ("object", "{}", b"{}"),
    ("object", '{"a": 1e400}', b'{"a": 1e400}'),
    ("value", "[-1E+6144]", b"[-1E+6144]"),
    ("value", "[1, null]", b"[1, null]"),
    ("value", "null", b"null"),
    ("maybeKey", "null", 0),
    ("maybeKey", '"7"', 7),
    ("maybeObject", "null", b""),
    ("maybeColor", '"UNSPECIFIED"', 0),
    ("texts", '["a", "b"]', ["a", "b"]),
    ("texts", "[]", []),
    ("keys", '["1", "2"]', [1, 2]),
    ("objects", '[{"a":1}, {}]', [b'{"a":1}', b"{}"]),
    ("labels", '{"a": "b"}', {"a": "b"}),
    ("from", '"here"', "here"),
]


@pytest.mark.parametrize(("name", "text", "expected"), ACCEPTED)
def test_a_value_of_the_documented_form_is_taken(name: str, text: str, expected: object) -> None:
    message = decode(f'{{"{name}": {text}}}')

    field = next(field for field in Everything.DESCRIPTOR.fields if field.json_name == name)
    assert expected == getattr(message, field.name)


REFUSED = [
    *(
        ("key", text)
        for text in ("12", '"0012"', '" 1"', '"1 "', '"1e3"', '"1\\n"', '"0"', '"-1"', '""', "1e3")
    ),
    *(
        ("key", text)
        for text in ('"9223372036854775808"', '"' + "9" * 400 + '"', "null", "true", '"\\u0661"', "[]")
    ),
    *(
        ("long", text)
        for text in ('"3"', "1.0", "1e3", "true", "null", "9223372036854775808", "1" * 5000, "1e400")
    ),
    *(("short", text) for text in ("2147483648", "-2147483649", '"1"', "1.5")),
    *(("unsigned", text) for text in ("-1", "18446744073709551616")),
    *(("doubleValue", text) for text in ("1e400", '"1"', "null")),
    *(("flag", text) for text in ('"true"', "1", "null")),
    *(("text", text) for text in ("1", "null", "{}")),
    *(("color", text) for text in ('"red"', '"COLOR_RED"', '"GREEN"', "1", '""', '"UNSPECIFIED"', "null")),
    *(("moment", text) for text in ('"2024-01-01"', '"2024-01-01T00:00:00"', '"2024-02-30T00:00:00Z"', "0")),
    *(("moment", text) for text in ('"2024-01-01T00:00:00+25:00"', '"0001-01-01T00:00:00+00:01"', '""')),
    *(
        ("moment", text)
        for text in ('"9999-12-31T23:59:59-00:01"', '"2024-01-01T00:00:60Z"', '"20240101T000000Z"')
    ),
    *(("binary", text) for text in ('"a"', '"A*=="', "[]")),
    *(("object", text) for text in ("[]", '"{}"', "null", "1")),
    ("maybeObject", "[]"),
    ("inner", "[]"),
    ("inner", '"x"'),
    *(("texts", text) for text in ('"a"', "[1]", "null", "[null]")),
    ("keys", '["1", "x"]'),
    ("inners", '[{"count": "1"}]'),
    *(("labels", text) for text in ('{"a": 1}', "[]", '{"a": null}', "null")),
    ("filter", '{"$in": []}'),
    ("filter", '{"$in": ["red"]}'),
    ("filter", '{"$eq": {}}'),
    ("filter", "1"),
]


@pytest.mark.parametrize(("name", "text"), REFUSED)
def test_any_other_value_is_refused_and_the_property_named(name: str, text: str) -> None:
    assert refusal(f'{{"{name}": {text}}}').startswith(name)


@pytest.mark.parametrize(
    ("text", "seconds", "nanos"),
    [
        ("2024-01-01T00:00:00Z", 1704067200, 0),
        ("2024-01-01t02:30:00.5+02:30", 1704067200, 500_000_000),
        ("2024-01-01T00:00:00.123456789Z", 1704067200, 123_456_000),
        ("1969-12-31T23:59:59.999Z", -1, 999_000_000),
        ("0001-01-01T00:00:00Z", -62135596800, 0),
        ("9999-12-31T23:59:59Z", 253402300799, 0),
    ],
)
def test_a_date_time_is_taken_with_any_offset(text: str, seconds: int, nanos: int) -> None:
    assert decode(f'{{"moment": "{text}"}}').moment == Timestamp(seconds=seconds, nanos=nanos)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"nope": 1}', "nope"),
        ('{"inner": {"nope": 1}}', "inner.nope"),
        ('{"inners": [{}, {"count": 1.5}]}', "inners[1].count"),
        ('{"filter": {"$like": "x"}}', "filter.$like"),
        ('{"filter": {"$in": ["RED", "red"]}}', "filter.$in[1]"),
        ('{"key": "x"}', "key"),
        ('{"double_value": 1}', "double_value"),
    ],
)
def test_a_refusal_names_the_way_to_the_property(text: str, path: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        decode(text)

    assert caught.value.detail.startswith(f"{path}: ")
    assert caught.value.metadata == {"field": path}


def test_a_plain_value_stands_for_its_operator() -> None:
    plain, operator = decode('{"filter": "RED"}'), decode('{"filter": {"$eq": "RED"}}')

    assert plain == operator
    assert plain.filter.eq == 1


def test_filters_of_the_contract_take_plain_values_and_operators() -> None:
    text = '{"filter": {"jobKey": "5", "creationTime": {"$gte": "2024-01-01T00:00:00Z"}, "state": {"$in": ["ACTIVE"]}}}'

    found = decode(text, CONTRACT["searchIncidents"]).filter

    assert found.job_key.eq == 5
    assert found.creation_time.gte.seconds == 1704067200
    assert list(getattr(found.state, "in")) == [1]


def test_a_required_list_may_be_empty_but_not_absent() -> None:
    route = CONTRACT["migrateProcessInstance"]
    path = {"process_instance_key": "5"}

    found = decode('{"targetProcessDefinitionKey": "7", "mappingInstructions": []}', route, path=path)

    assert found.target_process_definition_key == 7
    with pytest.raises(InvalidArgument, match=r"^mappingInstructions: expected a value"):
        decode('{"targetProcessDefinitionKey": "7"}', route, path=path)


def test_nested_and_repeated_messages_are_filled_in() -> None:
    message = decode('{"inner": {"text": "a"}, "inners": [{"count": 1}, {}]}')

    assert message.inner.text == "a"
    assert [inner.count for inner in message.inners] == [1, 0]


@pytest.mark.parametrize("text", ["", "{}"])
def test_no_body_is_an_empty_object(text: str) -> None:
    assert decode(text, content_type="" if not text else JSON) == Everything()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"[]", id="array"),
        pytest.param(b"null", id="null"),
        pytest.param(b'"x"', id="string"),
        pytest.param(b" ", id="space"),
        pytest.param(b"{", id="cut"),
        pytest.param(b"{} {}", id="two"),
        pytest.param(b'{"text": "a",}', id="trailing comma"),
        pytest.param(b'\xef\xbb\xbf{"text": "a"}', id="byte order mark"),
        pytest.param(b'{"text": "\xff"}', id="not UTF-8"),
        pytest.param(b'{"object": {"a": "\xff"}}', id="not UTF-8 in an object"),
        pytest.param(b'{"text": "\\ud800"}', id="lone surrogate"),
        pytest.param(b'{"\\ud800": 1}', id="lone surrogate in a name"),
        pytest.param(b'{"object": {"a": "\\ud800"}}', id="lone surrogate in an object"),
        pytest.param(b'{"value": "\\udc00 x"}', id="lone surrogate in a value"),
        pytest.param(b'{"doubleValue": NaN}', id="NaN"),
        pytest.param(b'{"object": {"a": -Infinity}}', id="infinity in an object"),
        pytest.param(b'{"object": {"a": 01}}', id="leading zero in an object"),
        pytest.param(b'{"text": "a\nb"}', id="line break in a string"),
        pytest.param(b'{"object": ' + b'{"a":' * 10_000 + b"1" + b"}" * 10_001, id="deep object"),
        pytest.param(b'{"value": ' + b"[" * 10_000 + b"]" * 10_000 + b"}", id="deep value"),
        pytest.param(b"[" * 100_000, id="deep and cut"),
        pytest.param(b'{"inner":' * 10_000, id="deep messages"),
    ],
)
def test_what_is_no_json_object_is_refused(text: bytes) -> None:
    assert refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"text": "a", "text": "b"}',
        '{"text": "a", "\\u0074ext": "b"}',
        '{"object": {"a": 1, "a": 2}}',
        '{"value": [{"deep": {"a": 1, "a": 1}}]}',
        '{"labels": {"a": "b", "a": "c"}}',
        '{"text": "\\u0022", "flag": true, "flag": false}',
    ],
)
def test_a_member_that_comes_twice_is_refused(text: str) -> None:
    assert "expected each member of an object once, found '" in refusal(text)


@pytest.mark.parametrize("content_type", ["", "text/plain", "application/xml", "application/jsonp", "json"])
def test_a_body_of_another_type_is_refused(content_type: str) -> None:
    assert refusal("{}", content_type=content_type).startswith(
        "request: expected content type application/json"
    )


@pytest.mark.parametrize(
    "content_type", ["application/json", "Application/JSON", "application/json; charset=utf-8"]
)
def test_parameters_and_case_of_the_content_type_do_not_matter(content_type: str) -> None:
    assert decode('{"text": "a"}', content_type=content_type).text == "a"


def test_an_operation_without_body_takes_an_empty_object_only() -> None:
    path = {"process_instance_key": "5"}

    assert decode("{}", CONTRACT["acceptCancellation"], path=path).process_instance_key == 5
    assert refusal('{"a": 1}', CONTRACT["acceptCancellation"], path=path) == "a: unknown property"


@pytest.mark.parametrize("value", ["abc", "0", "01", "-5", "9223372036854775808", "1.0", "", "5\n"])
def test_a_malformed_key_in_the_path_is_refused(value: str) -> None:
    assert refusal("", CONTRACT["failJob"], path={"job_key": value}).startswith("jobKey: expected a key")


@pytest.mark.parametrize(
    ("key", "expected"),
    [pytest.param('"-1"', None, id="as Camunda's Java client writes none"), ('"7"', 7), ("null", None)],
)
def test_a_key_that_a_client_does_not_have_is_absent(key: str, expected: int | None) -> None:
    text = f'{{"activateInstructions": [{{"elementId": "a", "ancestorElementInstanceKey": {key}}}]}}'
    path = {"process_instance_key": "5"}

    (found,) = decode(text, CONTRACT["modifyProcessInstance"], path=path).activate_instructions

    assert found.HasField("ancestor_element_instance_key") == (expected is not None)
    assert found.ancestor_element_instance_key == (expected or 0)


def test_no_other_key_is_negative() -> None:
    text = '{"activateInstructions": [{"elementId": "a", "ancestorElementInstanceKey": "-2"}]}'

    assert "found '-2'" in refusal(
        text, CONTRACT["modifyProcessInstance"], path={"process_instance_key": "5"}
    )


def test_the_key_of_the_path_is_no_property_of_the_body() -> None:
    assert (
        refusal('{"jobKey": "5"}', CONTRACT["failJob"], path={"job_key": "5"}) == "jobKey: unknown property"
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"text": "a b", "flag": "false"}, Simple(text="a b")),
        (
            {"key": "7", "short": "-3", "color": "RED", "flag": "true"},
            Simple(key=7, short=-3, color=1, flag=True),
        ),
        ([("texts", "a"), ("texts", "b")], Simple(texts=["a", "b"])),
        ({"moment": "2024-01-01T00:00:00Z"}, Simple(moment=Timestamp(seconds=1704067200))),
    ],
)
def test_query_parameters_have_the_types_of_their_fields(query: Any, expected: object) -> None:
    assert decode("", SAMPLE["getText"], query=query) == expected


@pytest.mark.parametrize(
    "query",
    [
        {"flag": "True"},
        {"flag": "1"},
        {"flag": ""},
        {"short": "1.0"},
        {"short": "2147483648"},
        {"short": "+1"},
        {"short": "007"},
        {"key": "0"},
        {"color": "red"},
        {"moment": "yesterday"},
        {"nope": "1"},
        [("text", "a"), ("text", "b")],
        {"text": "\udcff"},
    ],
)
def test_other_query_parameters_are_refused(query: Any) -> None:
    assert refusal("", SAMPLE["getText"], query=query)


def test_a_message_can_be_the_body_as_a_whole() -> None:
    found = decode('{"count": 3}', SAMPLE["putInner"], path={"text": "a/b"})

    assert (found.text, found.inner.count) == ("a/b", 3)
    assert refusal('{"inner": {}}', SAMPLE["putInner"], path={"text": "a"}) == "inner: unknown property"
    assert refusal("null", SAMPLE["putInner"], path={"text": "a"}) == "request: expected `object`, got `null`"


def test_an_object_can_be_the_body_as_a_whole() -> None:
    decoder, path = SAMPLE["putObject"], {"text": "a"}

    assert decode(' {"a": 1.0} ', decoder, path=path).object == b'{"a": 1.0}'
    assert decode("", decoder, path=path).object == b"{}"
    assert refusal("[]", decoder, path=path)
