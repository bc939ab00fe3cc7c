"""Forms that the console renders: fields of a schema, and the variables that answers make."""

import json
from typing import Any

import orjson
import pytest
from multidict import MultiDict, MultiDictProxy

from edge.console.form_answers import answered, variables_of
from edge.console.form_fields import Field, Kind, fields_of, names_of
from edge.console.json_text import exact
from server.platform.errors import InvalidArgument

COLOURS = [{"label": "Red", "value": "red"}, {"label": "None", "value": None}, {"label": "Seven", "value": 7}]


def schema(*components: object) -> str:
    return json.dumps({"type": "default", "id": "form", "components": components})


def fields(*components: object, **variables: object) -> list[Field]:
    return fields_of(schema(*components), exact(json.dumps(variables)))


def answer(component: dict[str, Any], *texts: str, **variables: object) -> Any:
    """Return the variables that answers to a form of one component make, as the API gets them."""
    (field,) = fields({"key": "x", "label": "X", **component}, **variables)
    form = MultiDictProxy(MultiDict((field.name, text) for text in texts))
    return orjson.loads(orjson.dumps(variables_of(answered([field], form), exact(json.dumps(variables)))))


@pytest.mark.parametrize(
    ("component", "texts", "value"),
    [
        pytest.param({"type": "textfield"}, ["red"], "red", id="text"),
        pytest.param({"type": "textfield"}, [""], "", id="empty text"),
        pytest.param({"type": "textarea"}, ["a\r\nb"], "a\nb", id="lines"),
        pytest.param({"type": "number"}, ["12"], 12, id="whole number"),
        pytest.param({"type": "number"}, [" -1.5e3 "], -1500.0, id="number"),
        pytest.param({"type": "number"}, [""], None, id="empty number"),
        pytest.param({"type": "number", "serializeToString": True}, ["1.50"], "1.50", id="number as text"),
        pytest.param({"type": "checkbox"}, ["yes"], True, id="checked"),
        pytest.param({"type": "checkbox"}, [], False, id="not checked"),
        pytest.param({"type": "select", "values": COLOURS}, ["0"], "red", id="option"),
        pytest.param({"type": "radio", "values": COLOURS}, ["2"], 7, id="option of a number"),
        pytest.param({"type": "select", "values": COLOURS}, [""], None, id="no option"),
        pytest.param({"type": "checklist", "values": COLOURS}, ["0", "2"], ["red", 7], id="options"),
        pytest.param({"type": "taglist", "values": COLOURS}, [], [], id="no options"),
        pytest.param({"type": "datetime", "subtype": "date"}, ["2026-01-31"], "2026-01-31", id="date"),
        pytest.param({"type": "datetime", "subtype": "time"}, ["10:30"], "10:30", id="time"),
        pytest.param(
            {"type": "datetime", "subtype": "datetime", "timeSerializingFormat": "utc_offset"},
            ["2026-01-31T10:30"],
            "2026-01-31T10:30Z",
            id="time in UTC",
        ),
        pytest.param({"type": "filepicker"}, ['[{"a": 1}]'], [{"a": 1}], id="other kind"),
        pytest.param({"type": "select", "valuesExpression": "=colours"}, ['"red"'], "red", id="expression"),
    ],
)
def test_an_answer_becomes_a_variable(component: dict[str, Any], texts: list[str], value: object) -> None:
    assert answer(component, *texts) == {"x": value}


@pytest.mark.parametrize(
    ("component", "texts", "reason"),
    [
        pytest.param(
            {"type": "textfield", "validate": {"required": True}}, [""], "must be filled in", id="empty"
        ),
        pytest.param(
            {"type": "checkbox", "validate": {"required": True}}, [], "must be checked", id="unchecked"
        ),
        pytest.param({"type": "number"}, ["NaN"], "expected a number", id="no number"),
        pytest.param({"type": "number"}, ["0x1"], "expected a number", id="hexadecimal"),
        pytest.param(
            {"type": "number", "validate": {"min": 2, "max": 4}}, ["5"], "at least 2 and at most 4", id="max"
        ),
        pytest.param({"type": "number", "validate": {"min": 2}}, ["1.9"], "at least 2, found 1.9", id="min"),
        pytest.param(
            {"type": "textfield", "validate": {"maxLength": 3}}, ["abcd"], "at most 3 characters", id="long"
        ),
        pytest.param({"type": "textfield", "validate": {"minLength": 3}}, ["ab"], "at least 3", id="short"),
        pytest.param({"type": "select", "values": COLOURS}, ["3"], "not one of the options", id="no option"),
        pytest.param({"type": "radio", "values": COLOURS}, ["-1"], "not one of the options", id="negative"),
        pytest.param(
            {"type": "checklist", "values": COLOURS, "validate": {"required": True}},
            [],
            "at least one",
            id="none",
        ),
        pytest.param({"type": "datetime", "subtype": "date"}, ["31.1.2026"], "expected a date", id="no date"),
        pytest.param({"type": "filepicker"}, ["[1"], "line 1, column", id="no JSON"),
    ],
)
def test_an_answer_that_the_form_does_not_allow_is_refused(
    component: dict[str, Any], texts: list[str], reason: str
) -> None:
    with pytest.raises(InvalidArgument, match=f"^X: .*{reason}"):
        answer(component, *texts)


def test_fields_show_the_values_of_variables() -> None:
    shown = fields(
        {"type": "textfield", "key": "person.name"},
        {"type": "number", "key": "amount"},
        {"type": "checkbox", "key": "isNew"},
        {"type": "select", "key": "colour", "values": COLOURS},
        {"type": "checklist", "key": "colours", "valuesKey": "all"},
        {"type": "dynamiclist", "path": "lines"},
        person={"name": "Ada"},
        amount=7.5,
        isNew=True,
        colour=7,
        colours=["b"],
        all=["a", "b"],
        lines=[1],
    )

    assert [each.answers for each in shown] == [("Ada",), ("7.5",), ("yes",), ("2",), ("1",), ("[\n  1\n]",)]


def test_names_are_those_of_all_variables_that_a_form_reads() -> None:
    form = schema(
        {"type": "group", "path": "order", "components": [{"type": "textfield", "key": "id"}]},
        {"type": "select", "key": "colour", "valuesKey": "colours"},
        {"type": "text", "text": "Hello"},
    )

    assert names_of(form) == ["colour", "colours", "order"]


def test_a_nested_answer_keeps_the_other_members_with_all_their_digits() -> None:
    (field,) = fields({"type": "textfield", "key": "person.name"})
    known = exact('{"person": {"name": "Ada", "id": 12345678901234567890123, "rate": 0.10}}')
    sent = MultiDictProxy(MultiDict({field.name: "Eve"}))

    written = orjson.dumps(variables_of(answered([field], sent), known))

    assert written == b'{"person":{"name":"Eve","id":12345678901234567890123,"rate":0.10}}'


def test_a_number_keeps_its_digits() -> None:
    (field,) = fields({"type": "number", "key": "x"})
    sent = MultiDictProxy(MultiDict({field.name: "0.12345678901234567890"}))

    assert orjson.dumps(variables_of(answered([field], sent), {})) == b'{"x":0.12345678901234567890}'


@pytest.mark.parametrize("member", ["readonly", "disabled"])
def test_a_fixed_field_changes_nothing(member: str) -> None:
    assert answer({"type": "textfield", member: True}, "changed", x="kept") == {}


def test_a_field_with_a_condition_is_not_required() -> None:
    component = {"type": "textfield", "validate": {"required": True}, "conditional": {"hide": "=true"}}

    assert answer(component, "") == {"x": ""}


def test_what_has_no_input_is_left_out_and_texts_are_notes() -> None:
    shown = fields(
        {"type": "text", "text": "### Hello"},
        {"type": "text", "text": "=greeting"},
        {"type": "button", "label": "Submit", "key": "submit"},
        {"type": "html", "content": "<script>alert(1)</script>"},
        {
            "type": "group",
            "label": "Address",
            "components": [{"type": "textfield", "key": "city", "label": "City"}],
        },
    )

    assert [(each.kind, each.label) for each in shown] == [
        (Kind.NOTE, "Hello"),
        (Kind.NOTE, "Address"),
        (Kind.TEXT, "City"),
    ]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"components": 1}', '{"components": [1, null, {"type": 7, "key": []}, {"type": []}]}'],
)
def test_a_schema_of_another_shape_has_no_fields(text: str) -> None:
    assert fields_of(text, {}) == []


def test_a_form_has_at_most_a_thousand_fields() -> None:
    assert len(fields(*({"type": "textfield", "key": f"x{number}"} for number in range(1001)))) == 1000


def test_a_list_has_at_most_a_thousand_options() -> None:
    (field,) = fields({"type": "select", "key": "x", "values": [str(number) for number in range(1001)]})

    assert len(field.options) == 1000


def test_groups_nest_at_most_sixteen_deep() -> None:
    component: object = {"type": "textfield", "key": "x"}
    for _ in range(17):
        component = {"type": "group", "components": [component]}

    assert fields(component) == []
