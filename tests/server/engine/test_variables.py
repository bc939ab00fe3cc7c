from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.engine.variables import MAX_DEPTH, MAX_VARIABLES, MalformedVariables, decode, encode, join, split

SCALARS = st.none() | st.booleans() | st.integers(-(10**40), 10**40) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)


def nested(depth: int) -> bytes:
    return b'{"x":' + b"[" * depth + b"]" * depth + b"}"


@pytest.mark.parametrize(
    ("document", "variables"),
    [
        (b"", {}),
        (b"{}", {}),
        (b' { "a" : [ 1 , { "b" : null } ] } ', {"a": '[1,{"b":null}]'}),
        (b'{"a":1.50,"b":-0,"c":1e400}', {"a": "1.50", "b": "-0", "c": "1e400"}),
        (b'{"a":123456789012345678901234567890}', {"a": "123456789012345678901234567890"}),
        ('{"ä":"界"}'.encode(), {"ä": '"界"'}),
        (b'{"a":"1e99999 [[["}', {"a": '"1e99999 [[["'}),
        (b'{"a":["id-1e99999"]}', {"a": '["id-1e99999"]'}),
        (b'{"a":1,"a":2}', {"a": "2"}),
    ],
)
def test_variables_are_the_members_of_an_object(document: bytes, variables: dict[str, str]) -> None:
    assert split(document) == variables


def test_variables_are_bounded_in_number() -> None:
    assert len(split(b"{" + b",".join(b'"a%d":1' % n for n in range(MAX_VARIABLES)) + b"}")) == MAX_VARIABLES
    with pytest.raises(MalformedVariables, match=f"at most {MAX_VARIABLES} variables"):
        split(b"{" + b",".join(b'"a%d":1' % n for n in range(MAX_VARIABLES + 1)) + b"}")


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(b"[1]", id="a list"),
        pytest.param(b"null", id="null"),
        pytest.param(b'{"a":', id="half a document"),
        pytest.param(b'{"a":1}x', id="more than a document"),
        pytest.param(b'{"a":[1,]}', id="a trailing comma"),
        pytest.param(b'{"a":01}', id="a leading zero"),
        pytest.param(b'{"a":NaN}', id="no number"),
        pytest.param(b'{"a":"\xff"}', id="no UTF-8"),
        pytest.param(b'{"a":"\\ud800"}', id="half a surrogate pair"),
        pytest.param(b'{"a":1e99999999999999999999}', id="an exponent beyond Python"),
        pytest.param(b'{"a":-1E-7000}', id="an exponent beyond FEEL"),
        pytest.param(b'{"a":[{"b":1e999999}]}', id="an exponent beyond FEEL, deep inside"),
        pytest.param(b'{"a":' + b"1" * 5000 + b"}", id="an integer beyond Python"),
        pytest.param(b'{"a":[' + b"1" * 5000 + b"]}", id="an integer beyond Python, inside"),
        pytest.param(nested(MAX_DEPTH + 1), id="too deep"),
        pytest.param(nested(100_000), id="far too deep"),
    ],
)
def test_what_is_no_object_of_values_is_refused(document: bytes) -> None:
    with pytest.raises(MalformedVariables):
        split(document)


def test_brackets_inside_text_are_not_nesting() -> None:
    text = '["' + "[" * (MAX_DEPTH + 1) + '"]'

    assert split(b'{"a":%s}' % text.encode()) == {"a": text}


def test_the_deepest_value_that_is_accepted_can_be_read() -> None:
    assert isinstance(decode(split(nested(MAX_DEPTH))["x"]), list)


@given(st.dictionaries(st.text(), VALUES))
def test_what_was_split_joins_again(values: dict[str, object]) -> None:
    texts = {name: encode(value) for name, value in values.items()}  # type: ignore[arg-type]

    assert split(join(texts)) == texts


@given(VALUES)
def test_a_value_survives_its_text(value: object) -> None:
    assert decode(encode(value)) == value  # type: ignore[arg-type]


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30))
def test_a_decimal_survives_its_text(value: Decimal) -> None:
    assert decode(encode(value)) == value


@given(
    st.binary()
    | st.text(alphabet='{}[]",:0123456789eE+-.\\u ', max_size=30).map(lambda text: f'{{"a":{text}}}'.encode())
)
def test_whatever_is_accepted_can_be_read(document: bytes) -> None:
    try:
        variables = split(document)
    except MalformedVariables:
        return

    for text in variables.values():
        decode(text)
