"""The error of the XML reader, in every language of XML."""


class XmlError(Exception):
    """`line` is 0 where there is none to name."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
