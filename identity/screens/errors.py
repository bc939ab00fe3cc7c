"""What is wrong with the screens that somebody wants."""


class SourceRefused(Exception):
    """A text that is not of its language, and where; lines and columns count from 1."""

    def __init__(self, what: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {what}")


class CssRefused(SourceRefused):
    """No stylesheet that a parser of CSS would take whole."""


class LayoutRefused(SourceRefused):
    """No layout."""


class ScreensRefused(Exception):
    """`field` names what cannot be kept."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message
