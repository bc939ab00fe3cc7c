from server.xml import Markup, parse


def test_an_element_has_its_attributes_text_children_and_line() -> None:
    markup = parse(b'<order id="1">\n <item>\n  book </item><!-- sold --></order>').markup({"": ""})

    assert markup == Markup("order", {"id": "1"}, (Markup("item", text="book", line=2),), line=1)


def test_tags_are_spelled_as_the_reader_says_whatever_prefix_the_file_uses() -> None:
    xml = b'<x:a xmlns:x="urn:a" xmlns:y="urn:b"><y:b/><x:c/></x:a>'

    markup = parse(xml).markup({"urn:a": "", "urn:b": "b:"})

    assert markup.tag == "a"
    assert [child.tag for child in markup.children] == ["b:b", "c"]


def test_elements_and_attributes_of_other_namespaces_are_left_out() -> None:
    include = (
        b'<i:include xmlns:i="http://www.w3.org/2001/XInclude" href="file:///etc/hostname"><b/></i:include>'
    )

    markup = parse(b'<a xml:lang="en">' + include + b"<c>" + include + b"</c></a>").markup({"": ""})

    assert markup == Markup("a", children=(Markup("c", line=1),), line=1)


def test_a_default_stands_where_the_file_leaves_the_attribute_out() -> None:
    markup = parse(b'<a><b/><b c="2"/></a>').markup({"": ""}, {"b": {"c": "1"}})

    assert [child.attributes for child in markup.children] == [{"c": "1"}, {"c": "2"}]


def test_descendants_come_in_the_order_of_the_document() -> None:
    markup = parse(b"<a><b><c/></b><d/></a>").markup({"": ""})

    assert [each.tag for each in markup.descendants()] == ["b", "c", "d"]
