"""Errors of screen settings."""


class SourceRefused(Exception):
    """A text that is invalid in its language, with the place; lines and columns count from 1."""

    def __init__(self, what: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {what}")


class CssRefused(SourceRefused):
    """An invalid stylesheet, of which a parser would drop a part."""


class LayoutRefused(SourceRefused):
    """An invalid layout."""


class ScreensRefused(Exception):
    """`field` names the invalid setting."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message
