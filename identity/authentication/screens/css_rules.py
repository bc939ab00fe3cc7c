"""Allow and deny lists of the stylesheet sanitizer, one row for each rule.

Rules that could load something, run something, or affect the page outside the card are removed. All others are kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from identity.authentication.screens import css_preludes as preludes
from identity.authentication.screens.css_preludes import Prelude


class Body(Enum):
    """Content of an at-rule's block: rules, keyframes, or the content of a style rule."""

    RULES = auto()
    KEYFRAMES = auto()
    SELECTED = auto()


@dataclass(frozen=True, slots=True)
class AtRuleKind:
    """`statement` is the grammar of the form without a block, None where a block is required.

    A rule that is not `is_nestable` stands at the top level only. `stays_empty` is true when the rule has a meaning
    without content.
    """

    prelude: Prelude
    body: Body = Body.RULES
    statement: Prelude | None = None
    is_nestable: bool = True
    stays_empty: bool = False


_KEYFRAMES = AtRuleKind(preludes.is_keyframes_name, body=Body.KEYFRAMES, is_nestable=False, stays_empty=True)

# All others are removed: `@import` and `@font-face` load, `@namespace` and `@property` affect the whole page, and
# unknown rules may load something in future browsers.
KEPT_AT_RULES: Mapping[str, AtRuleKind] = {
    "media": AtRuleKind(preludes.is_media_query_list),
    "supports": AtRuleKind(preludes.is_condition),
    "container": AtRuleKind(preludes.is_container_condition),
    "layer": AtRuleKind(preludes.is_layer_name, statement=preludes.is_layer_list, stays_empty=True),
    "starting-style": AtRuleKind(preludes.is_empty),
    "nest": AtRuleKind(lambda _prelude: True, body=Body.SELECTED),
    "keyframes": _KEYFRAMES,
    "-webkit-keyframes": _KEYFRAMES,
    "-moz-keyframes": _KEYFRAMES,
    "-o-keyframes": _KEYFRAMES,
}

# By their names without the prefix of a vendor.
REMOVED_PROPERTIES = frozenset(
    {
        "position",  # leaves the card, and covers what is around it
        "z-index",
        "filter",  # loads by url(), and ran code in old browsers
        "behavior",  # ran code
        "binding",  # ran code
    }
)

# By their names without the prefix of a vendor; in values, in values of custom properties, and in conditions.
REMOVED_FUNCTIONS = frozenset(
    {
        "url",
        "url-prefix",
        "src",
        "image",  # takes an address as a string, as those below do
        "image-set",
        "image-rect",
        "cross-fade",
        "element",  # shows another part of the page
        "paint",  # runs a worklet
        "canvas",
        "expression",  # ran code
    }
)

# Types by which attr() makes a URL of an attribute: CSS Values Level 5 §7.7.
REMOVED_ATTR_TYPES = frozenset({"url"})

# Prefix of old filters of a vendor: `progid:DXImageTransform…`.
REMOVED_PREFIXES = frozenset({"progid"})

VENDORS = ("-webkit-", "-moz-", "-ms-", "-o-", "-khtml-", "-apple-")


def without_vendor(name: str) -> str:
    return next((name.removeprefix(vendor) for vendor in VENDORS if name.startswith(vendor)), name)
