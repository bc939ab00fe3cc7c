"""The provider's own pages: plain HTML for any browser, with scripts and styles of its own origin only."""

from edge.oidc.pages.assets import PageAssets
from edge.oidc.pages.renderer import CODE_METHODS, Pages

__all__ = ["CODE_METHODS", "PageAssets", "Pages"]
