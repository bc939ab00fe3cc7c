"""Properties of sanitized stylesheets: they load nothing, affect only the card, and are fixed points."""

import re

from hypothesis import given
from hypothesis import strategies as st

from identity.authentication.screens.css_selectors import CARD, CUSTOM_SCREEN, ROOTS
from identity.authentication.screens.errors import CssRefused
from identity.authentication.screens.stylesheet import Stylesheet, sanitized

_NAMES = ("p", ".a", "#b", "*", "&", "html", ":root", "body", ".card", ".custom-screen", "u", "x|y", "[a=b]")
_PSEUDO = ("", ":hover", "::before", ":not(&)", ":has(> p)", ":is(a,b)", ":nth-child(2n + 1)")
_COMBINATORS = (" ", ">", "+", "~", " > ", "/**/", ",", " , ")
_PROPERTIES = (
    "color",
    "position",
    "--x",
    "POSITION",
    r"p\6fsition",
    "background",
    "-ms-filter",
    "z-index",
    "content",
)
_VALUES = (
    *(
        "red",
        "1px",
        "url(a)",
        'url("a")',
        r"u\72l(a)",
        "image-set('a' 1x)",
        "var(--x,url(a))",
        "calc(1px + 2px)",
    ),
    *('"</style>"', r"\<", "a<b", "{b:c}", "fixed!important", "-1px", "U+26", "#abc", "a,b", "", "'@import'"),
)
_HEADS = (
    *(
        "@media x",
        "@media (width<5px)",
        "@supports (a:b)",
        "@container (a)",
        "@layer x",
        "@starting-style",
        "@nest &",
    ),
    *("@keyframes x", "@font-face", "@import 'x'", r"@\69mport 'x'", "@scope (p)", "@unknown"),
)

# A second tokenizer: strings and escapes first, so that their content is not taken for tokens.
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\\[0-9a-fA-F]{1,6} ?|\\.|[{};]|[^"\\{};]+', re.DOTALL)
_ESCAPE = re.compile(r"\\([0-9a-fA-F]{1,6}) ?|\\(.)", re.DOTALL)

selectors = st.lists(
    st.tuples(st.sampled_from(_NAMES), st.sampled_from(_PSEUDO), st.sampled_from(_COMBINATORS)),
    min_size=1,
    max_size=4,
).map(lambda parts: "".join(map("".join, parts)).rstrip(" >+~,"))
declarations = st.tuples(st.sampled_from(_PROPERTIES), st.sampled_from(_VALUES)).map(":".join)
bodies = st.recursive(
    st.lists(declarations, max_size=3).map(";".join),
    lambda inner: st.lists(
        st.tuples(st.one_of(selectors, st.sampled_from(_HEADS)), inner).map(
            lambda rule: f"{rule[0]}{{{rule[1]}}}"
        ),
        max_size=3,
    ).map("".join),
    max_leaves=6,
)
stylesheets = st.lists(
    st.tuples(st.one_of(selectors, st.sampled_from(_HEADS)), bodies).map(
        lambda rule: f"{rule[0]}{{{rule[1]}}}"
    ),
    max_size=4,
).map("".join)
scraps = st.lists(
    st.one_of(
        st.sampled_from((*_NAMES, *_PSEUDO, *_COMBINATORS, *_VALUES, *_HEADS, *"{}[]();:,!\\\"'@#.<>/* \n")),
        st.text(max_size=3),
    ),
    max_size=20,
).map("".join)
roots = st.sampled_from(ROOTS)


def sanitized_or_refused(css: str, root: str) -> Stylesheet | None:
    try:
        return sanitized(css, root)
    except CssRefused:
        return None


def plain(text: str) -> str:
    """Return the text without strings, with escapes resolved, in lower case."""
    without = re.sub(r'"(?:\\.|[^"\\])*"', '""', text, flags=re.DOTALL)
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else match[2], without).lower()


def preludes(text: str) -> list[tuple[int, str]]:
    """Return the prelude of each block, with its depth."""
    found, depth, current = [], 0, ""
    for token in _TOKEN.findall(text):
        if token == "{":
            found.append((depth, current))
        depth += {"{": 1, "}": -1}.get(token, 0)
        current = "" if token in "{};" else current + token
    return found


@given(st.one_of(stylesheets, scraps), roots)
def test_what_is_kept_goes_in_again_unchanged(css: str, root: str) -> None:
    found = sanitized_or_refused(css, root)

    assert found is None or sanitized(found.text, root) == Stylesheet(found.text, 0)


@given(stylesheets)
def test_it_goes_from_one_root_to_the_other_and_back(css: str) -> None:
    found = sanitized_or_refused(css, CARD)

    assert found is None or sanitized(sanitized(found.text, CUSTOM_SCREEN).text, CARD).text == found.text


@given(st.one_of(stylesheets, scraps), roots)
def test_nothing_that_loads_or_runs_is_left(css: str, root: str) -> None:
    found = sanitized_or_refused(css, root)

    assert found is None or (
        "<" not in found.text
        and not re.search(r"\b(url|src|image|image-set|expression)\(|@import|@font-face", plain(found.text))
        and not re.search(r"(?<!-)\b(position|z-index|filter|behavior)\s*:", plain(found.text))
    )


@given(stylesheets, roots)
def test_every_rule_outside_of_others_is_about_descendants_of_the_root(css: str, root: str) -> None:
    found = sanitized_or_refused(css, root)

    outside = [prelude for depth, prelude in preludes(found.text if found else "") if depth == 0]
    assert all(prelude.startswith(("@", f"{root} ", f"{root}>")) for prelude in outside)
