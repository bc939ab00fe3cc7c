import json
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.platform.json_members import RepeatedMember, expect_unique_members


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"a":1,"a":2}', "a"),
        ('{"a":1,"a":1}', "a"),
        ('{"":1,"":2}', ""),
        ('{"a" : 1 ,\n"b": [], "a"\t:2}', "a"),
        ('{"a":1,"\\u0061":2}', "a"),
        ('{"x":{"y":[{"b":1},{"b":{"c":1,"c":2}}]}}', "c"),
        ('[[{"a":null,"a":null}]]', "a"),
        ('{"a":"\\u0022","a":1}', "a"),
        ('{"a":"\\u0022\\u0022","b":1,"b":2}', "b"),
        ('{"a":1e999,"a":1}', "a"),
        ('{"a":123456789012345678901234567890,"a":0}', "a"),
        ('{"a":"\\ud800","a":1}', "a"),
        ('{"a":1,"b":' + "[" * 300 + "]" * 300 + ',"a":2}', "a"),
    ],
)
def test_a_member_that_comes_twice_is_refused_at_any_depth(text: str, name: str) -> None:
    with pytest.raises(RepeatedMember) as refusal:
        expect_unique_members(text.encode())

    assert refusal.value.name == name


@pytest.mark.parametrize(
    "text",
    [
        *("{}", "[]", '"a"', "1", "null", '{"a":1,"A":2}', '[{"a":1},{"a":1}]', '{"a":{"a":{"a":1}}}'),
        *('{"a":"{\\"b\\":1,\\"b\\":2}"}', '{"a":"\\u0022a\\u0022:1"}', '{"a":1e999}', '{"a":"\\ud800"}'),
        *('{"a":["a","a"],"b":"a"}', '{"a":123456789012345678901234567890}', "[" * 300 + "]" * 300),
    ],
)
def test_members_that_come_once_are_accepted(text: str) -> None:
    expect_unique_members(text.encode())


def _json(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)


VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), _json, max_leaves=8)


@given(VALUES, st.sampled_from([json.dumps, lambda value: orjson.dumps(value, default=str).decode()]))
def test_what_programs_write_is_accepted(value: Any, write: Callable[[Any], str]) -> None:
    try:
        text = write(value)
    except (TypeError, orjson.JSONEncodeError):
        text = json.dumps(value)

    expect_unique_members(text.encode("utf-8", "replace"))


@given(st.dictionaries(st.text(max_size=5), VALUES, min_size=1, max_size=4), VALUES, st.data())
def test_a_member_that_is_added_again_is_refused(
    members: dict[str, Any], value: Any, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(members)))
    text = f"[{json.dumps(members)[:-1]}, {json.dumps(name)}: {json.dumps(value)}}}]"

    with pytest.raises(RepeatedMember):
        expect_unique_members(text.encode())
