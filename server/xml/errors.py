"""The error of the XML reader, for all XML languages."""


class XmlError(Exception):
    """An XML error; `line` is 0 if unknown."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
