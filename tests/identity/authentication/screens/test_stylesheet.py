"""The stylesheet sanitizer: CSS Syntax Level 3, CSS Nesting, Selectors Level 4."""

import pytest

from identity.authentication.screens.css_selectors import CARD, CUSTOM_SCREEN
from identity.authentication.screens.css_tokens import MAX_DEPTH
from identity.authentication.screens.errors import CssRefused
from identity.authentication.screens.stylesheet import Stylesheet, sanitized


def kept(css: str, root: str = CARD) -> str:
    return sanitized(css, root).text


def removed(css: str) -> int:
    return sanitized(css, CARD).removed_rules


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ("h1{color:red}", ".card h1{color:red}"),
        ("h1,h2>p{a:b}", ".card h1,.card h2>p{a:b}"),
        (":is(h1,h2) a{a:b}", ".card :is(h1,h2) a{a:b}"),
        (":where(),:not(p , q){a:b}", ".card :where(),.card :not(p,q){a:b}"),
        ("html,:root,body{a:b}", ".card html,.card :root,.card body{a:b}"),
        ("html body h1{a:b}", ".card html body h1{a:b}"),
        ("*{a:b}", ".card *{a:b}"),
        ("div:has(> p):hover::before{a:b}", ".card div:has(>p):hover::before{a:b}"),
        ("& p{a:b}", ".card & p{a:b}"),
        (":scope p,:host p{a:b}", ".card :scope p,.card :host p{a:b}"),
        (r"a\,b{a:b}", r".card a\,b{a:b}"),
        ('[x="a,b{" i]{a:b}', '.card [x="a,b{" i]{a:b}'),
        ("[x|a = b]{a:b}", ".card [x|a=b]{a:b}"),
        ("svg|p,*|*{a:b}", ".card svg|p,.card *|*{a:b}"),
        (":nth-child(2n + 1 of .a, .b){a:b}", ".card :nth-child(2n + 1 of .a,.b){a:b}"),
        ("p::part(x),::slotted(p){a:b}", ".card p::part(x),.card ::slotted(p){a:b}"),
        ("::view-transition-old(x),::backdrop{a:b}", ".card ::view-transition-old(x),.card ::backdrop{a:b}"),
        (":unknown,:unknown(a b){a:b}", ".card :unknown,.card :unknown(a b){a:b}"),
        ("a/**/.b{a:b}", ".card a.b{a:b}"),
        ("u + a{a:b}", ".card u + a{a:b}"),
    ],
)
def test_every_selector_is_about_descendants_of_the_card(css: str, expected: str) -> None:
    assert kept(css) == expected


def test_under_a_template_the_card_is_the_custom_screen() -> None:
    assert kept("h1,h2{color:red}", CUSTOM_SCREEN) == ".custom-screen h1,.custom-screen h2{color:red}"


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        (".card h1{a:b}", ".card h1{a:b}"),
        (".card>h1{a:b}", ".card>h1{a:b}"),
        (".custom-screen h1{a:b}", ".card h1{a:b}"),
        (".card{a:b}", ".card .card{a:b}"),
        (".card .card{a:b}", ".card .card{a:b}"),
        (".card + h1{a:b}", ".card .card+h1{a:b}"),
        (".card:hover h1{a:b}", ".card .card:hover h1{a:b}"),
    ],
)
def test_what_is_about_descendants_of_a_root_goes_over_to_this_one(css: str, expected: str) -> None:
    assert kept(css) == expected


@pytest.mark.parametrize(
    "nested",
    [
        "&:hover{a:b}",
        "&>p{a:b}",
        "p{a:b}",
        ">p{a:b}",
        "+p{a:b}",
        "& &{a:b}",
        "@media x{color:red}",
        "p{q{a:b}}",
    ],
)
def test_what_is_about_the_rule_that_it_stands_in_stays_as_it_is(nested: str) -> None:
    assert kept(f"h1{{c:d;{nested}}}") == f".card h1{{c:d;{nested}}}"


@pytest.mark.parametrize("nested", ["html:has(&)", ":root:not(&) *", "body &", ":is(&) p", "div&"])
def test_no_nested_selector_gets_out_by_naming_its_parent(nested: str) -> None:
    assert kept(f"h1{{{nested}{{a:b}}}}") == f".card h1{{.card {nested}{{a:b}}}}"


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ("@media (min-width: 600px){p{a:b}}", "@media (min-width: 600px){.card p{a:b}}"),
        ("@media screen and (width), not print{p{a:b}}", "@media screen and (width),not print{.card p{a:b}}"),
        ("@supports not (a:b){p{a:b}}", "@supports not (a:b){.card p{a:b}}"),
        ("@supports selector(a > b){p{a:b}}", "@supports selector(a>b){.card p{a:b}}"),
        ("@container x (width > 2px){p{a:b}}", "@container x (width>2px){.card p{a:b}}"),
        ("@layer a.b{p{a:b}}", "@layer a.b{.card p{a:b}}"),
        ("@layer a , b.c;", "@layer a,b.c;"),
        ("@layer x{}", "@layer x{}"),
        ("@starting-style{p{a:b}}", "@starting-style{.card p{a:b}}"),
        ("@nest & p{a:b}", "@nest .card & p{a:b}"),
        ("p{@nest & q{a:b}}", ".card p{@nest & q{a:b}}"),
        ("@media x{@supports (a:b){p{a:b}}}", "@media x{@supports (a:b){.card p{a:b}}}"),
        ("@keyframes x{from,50%{a:b}entry 5%{a:b}}", "@keyframes x{from,50%{a:b}entry 5%{a:b}}"),
        ("@-webkit-keyframes x{to{a:b}}", "@-webkit-keyframes x{to{a:b}}"),
        ("@media x{}", ""),
    ],
)
def test_conditions_layers_and_animations_are_kept_with_what_is_in_them(css: str, expected: str) -> None:
    assert sanitized(css, CARD) == Stylesheet(expected, 0)


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ("@media (width<600px){p{a:b}}", "@media (600px>width){.card p{a:b}}"),
        ("@media (400px <= width < 700px){p{a:b}}", "@media (700px>width>=400px){.card p{a:b}}"),
    ],
)
def test_a_range_is_written_the_other_way_round(css: str, expected: str) -> None:
    assert kept(css) == expected


@pytest.mark.parametrize(
    "css",
    [
        "@import 'x';",
        "@IMPORT url(x) layer(y);",
        r'@\69mport "x";',
        "p{a:b}@import 'x';",
        "@font-face{src:url(x)}",
        "@media x{@font-face{font-family:a}}",
        "@charset 'x';",
        "@namespace x;",
        "@page{margin:0}",
        "@property --x{syntax:'*'}",
        "@counter-style x{symbols:a}",
        "@scope (p){q{a:b}}",
        "@font-palette-values --x{a:b}",
        "@view-transition{navigation:auto}",
        "@position-try --x{a:b}",
        "@-moz-document url(x){p{a:b}}",
        "@unknown ??? {nobody knows}",
        "@container style(--x:url(a)){p{a:b}}",
        "@supports (background:url(a)){p{a:b}}",
        "p{@keyframes x{from{a:b}}}",
        "p{@layer a;}",
    ],
)
def test_every_other_at_rule_is_removed_and_counted_once(css: str) -> None:
    without = kept("p{a:b}") if css.startswith("p{a:b}") else ""

    assert sanitized(css, CARD) == Stylesheet(without, 1)


@pytest.mark.parametrize(
    "value",
    [
        "url(x)",
        'url("x")',
        "URL( x )",
        r"u\72l(x)",
        "url(data:image/png,x)",
        "url(#here)",
        "linear-gradient(red,blue),url(x)",
        "var(--x,url(x))",
        'image-set("a" 1x)',
        '-webkit-image-set("a" 1x)',
        "src('x')",
        "src(var(--x))",
        "image('x')",
        "cross-fade(a,b)",
        "-moz-element(#x)",
        "paint(x)",
        "attr(x url)",
        "attr(x type(<url>))",
        "expression(alert(1))",
        r"e\78pression(1)",
        "progid:DXImageTransform.Microsoft.Alpha(opacity=5)",
        "a<b",
        "a --> b",
        "url(x",
    ],
)
@pytest.mark.parametrize("name", ["background", "cursor", "content", "mask", "--x"])
def test_what_could_load_or_run_something_is_removed(name: str, value: str) -> None:
    assert sanitized(f"p{{{name}:{value}", CARD) == Stylesheet("", 1)


@pytest.mark.parametrize(
    "declaration",
    [
        "position:fixed",
        "POSITION:fixed",
        r"p\6fsition:fixed",
        "position:fixed!important",
        "z-index:1",
        "filter:blur(1px)",
        "-webkit-filter:x",
        "-ms-filter:'x'",
        "behavior:x",
        "-ms-behavior:x",
        "-moz-binding:x",
    ],
)
def test_what_leaves_the_card_is_removed(declaration: str) -> None:
    assert sanitized(f"p{{color:red;{declaration}}}", CARD) == Stylesheet(".card p{color:red}", 1)


@pytest.mark.parametrize(
    "declaration",
    [
        "--position:fixed",
        "--Case:1",
        "--x:",
        "--x:{a:b;c:d}",
        "--x:a,b",
        "color:",
        "background:var(--u)",
        "backdrop-filter:blur(1px)",
        "inset:0",
        "transform:translate(1px,-2px)",
        "margin:-9999px",
        "all:unset",
        "color:red!important",
        "-webkit-text-stroke:1px",
        "unknown:1",
        "font:12px/1.5 a,b",
        "width:calc(1px + -2px)",
        'grid-template-areas:"a b" "c d"',
        "display:none",
        "unicode-range:U+26",
        "animation:x 1s infinite",
    ],
)
def test_everything_else_is_kept(declaration: str) -> None:
    assert sanitized(f"p{{{declaration}}}", CARD) == Stylesheet(f".card p{{{declaration}}}", 0)


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ("p{position:fixed}", 1),
        ("@media x{p{position:fixed}}", 1),
        ("p{q{position:fixed;z-index:1}}", 2),
        ("@keyframes x{from{position:fixed}}", 1),
        ("@keyframes x{nowhere{a:b}}", 1),
        ("@font-face{src:url(x);src:url(y)}", 1),
        ("p{}q{;;}", 0),
    ],
)
def test_each_removal_is_counted_once(css: str, expected: int) -> None:
    assert removed(css) == expected


@pytest.mark.parametrize(
    "css",
    [
        'p{content:"</style><script>alert(1)</script>"}',
        'p{content:"\\\\<"}',
        '[x="</style>"]{a:b}',
        r".\<\/style\>{a:b}",
        r"@keyframes \<\/style{from{a:b}}",
        r"@layer \<\/style;",
        r"@media screen and (\<\/style){p{a:b}}",
        r"p{\<\/style:b}",
        r"p{--\<\/style:1\<\/style}",
        "@media (1px<width){p{a:b}}",
    ],
)
def test_nothing_ends_the_element_that_it_stands_in(css: str) -> None:
    found = sanitized(css, CARD)

    assert found.text
    assert "<" not in found.text


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ("/* nothing */ \n", ""),
        ("<!-- p{a:b} -->", ".card p{a:b}"),
        ("\ufeffp{a:b}\r\n\fq{c:d}", ".card p{a:b}.card q{c:d}"),
        ("p{content:'a\0'}", '.card p{content:"a\ufffd"}'),
        ("p{content:'abc", '.card p{content:"abc"}'),
        ("p{width:calc(1px", ".card p{width:calc(1px)}"),
        ("p{a:b/* c", ".card p{a:b}"),
        ("p { color : RED ;; }", ".card p{color:RED}"),
        ("p{a:exp/**/ression(1)}", ".card p{a:exp ression(1)}"),
    ],
)
def test_a_stylesheet_is_written_anew_and_short(css: str, expected: str) -> None:
    assert kept(css) == expected


@pytest.mark.parametrize(
    "css",
    [
        *("h1 { color }", "p{color:red;color}", "} h1{}", "h1{color:red} }", "h1..a{}", "{a:b}"),
        *("> p{}", "+ p{}", "~ p{}", "p,{}", ",p{}", "p >{}", "p > > q{}", "p:not(){}", "p:has(){}"),
        *(
            "123{}",
            "#1a{}",
            ".1a{}",
            "p:nth-child(x){}",
            "p:nth-child(1 of){}",
            "[a b]{}",
            "[a=]{}",
            "[=a]{}",
        ),
        *("p::before q{}", "p::before>q{}", "p::before.a{}", "p::before[a]{}"),
        *("p|{}", "a b|c|d{}", "p a:{}", "p || q{}", "p{<!--:b}", "p:x(<){}", "&p q,a<b{}"),
        *("this is not css", "<script>alert(1)</script>", 'p{content:"a\nb"}', "p{a:url(a b)}"),
        *("p{width:calc((1px + 2px)}", "p{a:b)}", "p{a:b]}", "p{a:\\\n}", "a\\"),
        *("@media (min-width {p{a:b}}", "@media @foo {p{a:b}}", "@media screen;", "@media and (x){p{a:b}}"),
        *(
            "@media (a) and (b) or (c){p{a:b}}",
            "@media ,{p{a:b}}",
            "@media (1<x>2){p{a:b}}",
            "@media (a;b){p{}q{a:b}}",
        ),
        *("@layer;", "@layer a b;", "@layer a.{p{a:b}}", "@layer a,b{p{a:b}}"),
        *("@supports {p{a:b}}", "@supports foo{p{a:b}}", "@supports (){p{a:b}}", "@supports (a) (b){p{a:b}}"),
        *(
            "@container{p{a:b}}",
            "@container none{p{a:b}}",
            "@keyframes {from{a:b}}",
            "@keyframes a b{from{a:b}}",
        ),
        *("@starting-style x{p{a:b}}", "@nest {p{a:b}}", "@media x{color:red}", "color:red"),
        *("p{a{b}}", "p{:color}", "p{color:!}", "p{color:red!foo}", "p{color:{a}}", f"p{{a:{'9' * 5000}}}"),
    ],
)
def test_what_no_parser_takes_whole_is_refused_with_its_place(css: str) -> None:
    with pytest.raises(CssRefused, match=r"line \d+, column \d+: .") as refusal:
        sanitized(css, CARD)

    assert len(str(refusal.value)) < 200


def test_the_place_is_where_the_mistake_is() -> None:
    with pytest.raises(CssRefused, match=r"^line 2, column 6: "):
        sanitized("p{a:b}\nq{a:b)}", CARD)


@pytest.mark.parametrize("opening", ["p{", "(", "[", "a:is(", "{", "@media x{"])
def test_what_is_nested_without_end_is_refused(opening: str) -> None:
    with pytest.raises(CssRefused, match=str(MAX_DEPTH)):
        sanitized(opening * (32_768 // len(opening)), CARD)


def test_many_selectors_are_held_each() -> None:
    css = "a," * 16_000 + "a{b:c}"

    assert kept(css).count(".card a") == 16_001
