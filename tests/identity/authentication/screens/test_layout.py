"""The template language: valid layouts, and the places of errors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from identity.authentication.screens.errors import LayoutRefused
from identity.authentication.screens.layout import MAX_DEPTH, LayoutElement, read_layout
from identity.authentication.screens.layout_elements import ELEMENTS

VALUES = [
    (name, attribute, value)
    for name, kind in ELEMENTS.items()
    for attribute, values in kind.attributes.items()
    for value in values
]
INNER = {"columns": "<stack/><stack/>"}


def screen(content: str) -> LayoutElement:
    return read_layout(f"<screen>{content}<auth-content/></screen>")


def first(content: str) -> LayoutElement:
    return screen(content).children[0]


def test_elements_come_in_their_order_with_their_text() -> None:
    layout = read_layout("<screen>\n <panel><heading>Hi\n  you</heading><auth-content/></panel> </screen>")

    assert [(element.name, element.text) for element in layout.descendants()] == [
        ("screen", ""),
        ("panel", ""),
        ("heading", "Hi you"),
        ("auth-content", ""),
    ]


@pytest.mark.parametrize(("name", "attribute", "value"), VALUES)
def test_an_attribute_has_one_of_its_values(name: str, attribute: str, value: str) -> None:
    element = first(f'<{name} {attribute}="{value}">{INNER.get(name, "")}</{name}>')

    assert element.attributes[attribute] == value


@pytest.mark.parametrize(
    ("content", "attributes"),
    [
        ("<columns><stack/><stack/></columns>", {"ratio": "equal"}),
        ("<stack/>", {"gap": "medium"}),
        ("<panel/>", {"tone": "plain", "align": "left"}),
        ("<heading>a</heading>", {"size": "medium"}),
        ("<text>a</text>", {"tone": "normal"}),
        ("<eyebrow>a</eyebrow>", {}),
        ("<divider/>", {}),
        ("<client-logo/>", {}),
    ],
)
def test_an_attribute_that_is_left_out_has_its_default(content: str, attributes: dict[str, str]) -> None:
    assert first(content).attributes == attributes


def test_text_is_text() -> None:
    assert first("<text>&lt;b&gt; &amp; &#60;i&#x3e; &quot;</text>").text == '<b> & <i> "'


def test_marks_of_direction_stay() -> None:
    assert first("<text>\u200fשלום\u200e</text>").text == "\u200fשלום\u200e"


@pytest.mark.parametrize(
    "template",
    [
        "",
        "text",
        "<screen/>",
        "<screen></screen>",
        "<auth-content/>",
        "<panel><auth-content/></panel>",
        "<screen><auth-content/><auth-content/></screen>",
        "<screen><auth-content/></screen><screen/>",
        "<screen><screen/><auth-content/></screen>",
        "<screen><auth-content/>",
        "<screen><stack></screen></stack>",
        "<screen><auth-content>a</auth-content></screen>",
        "<screen><auth-content><text>a</text></auth-content></screen>",
        "<screen><auth-content id='a'/></screen>",
        "<Screen><auth-content/></Screen>",
        "<screen xmlns='urn:x'><auth-content/></screen>",
        "<screen xmlns:x='urn:x'><auth-content/></screen>",
        "<screen xml:lang='en'><auth-content/></screen>",
        "<!DOCTYPE screen><screen><auth-content/></screen>",
        "<?xml version='1.0'?><screen><auth-content/></screen>",
    ],
)
def test_what_is_no_screen_with_one_slot_is_refused(template: str) -> None:
    with pytest.raises(LayoutRefused, match=r"^line \d+, column \d+: ."):
        read_layout(template)


@pytest.mark.parametrize(
    "content",
    [
        *(f"<{name}/>" for name in ("div", "script", "img", "a", "style", "form", "HEADING", "x:stack")),
        *(f"<stack {attribute}='x'/>" for attribute in ("class", "style", "onclick", "id", "href", "GAP")),
        *(
            "<stack gap='huge'/>",
            "<stack gap='Small'/>",
            "<stack gap=''/>",
            "<stack gap='small' gap='small'/>",
        ),
        *("<client-logo url='x'/>", "<client-logo>a</client-logo>", "<client-logo/><client-logo/>"),
        *("<divider>a</divider>", "<divider><stack/></divider>"),
        *("a", "<stack>a</stack>", "<stack/>a", "<heading>a<b/></heading>", "<text><text>a</text></text>"),
        *("<columns/>", "<columns><stack/></columns>", "<columns><stack/><stack/><stack/></columns>"),
        *("<text><![CDATA[a]]></text>", "<!-- a -->", "<?a b?>", "<!ENTITY a 'b'>"),
        *(
            "<text>&nbsp;</text>",
            "<text>&a;</text>",
            "<text>&#0;</text>",
            "<text>&#x1;</text>",
            "<text>a & b</text>",
        ),
        *("<text>a\u202eb</text>", "<text>a\u2066b</text>", "<text>a\u0085b</text>", "<text>a\x01b</text>"),
    ],
)
def test_nothing_but_its_elements_is_in_a_layout(content: str) -> None:
    with pytest.raises(LayoutRefused, match=r"^line 1, column \d+: ."):
        screen(content)


def test_the_place_is_where_the_element_begins() -> None:
    with pytest.raises(LayoutRefused, match=r"^line 3, column 4: stack has no attribute id$"):
        read_layout("<screen>\n<text>a > b</text>\n   <stack id='a'/><auth-content/></screen>")


@pytest.mark.parametrize("depth", [MAX_DEPTH, 1000])
def test_what_is_too_deep_is_refused(depth: int) -> None:
    with pytest.raises(LayoutRefused):
        screen("<stack>" * depth + "</stack>" * depth)


def test_what_is_as_deep_as_may_be_is_a_layout() -> None:
    assert screen("<stack>" * (MAX_DEPTH - 1) + "</stack>" * (MAX_DEPTH - 1))


@given(
    st.lists(
        st.sampled_from(
            (
                *(f"<{name}>" for name in ELEMENTS),
                *(f"</{name}>" for name in ELEMENTS),
                "<",
                ">",
                "&",
                "a",
                "\0",
                "<!",
                "/>",
                "'",
            )
        )
    ).map("".join)
)
def test_whatever_is_written_is_a_layout_or_refused(template: str) -> None:
    try:
        layout = read_layout(template)
    except LayoutRefused:
        return

    assert {element.name for element in layout.descendants()} <= ELEMENTS.keys()
