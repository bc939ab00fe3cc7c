"""The provider's own pages: plain HTML that works in any browser, with scripts and styles of its own origin."""

from edge.oidc.pages.assets import Assets
from edge.oidc.pages.rendering import CODE_METHODS, Pages

__all__ = ["CODE_METHODS", "Assets", "Pages"]
