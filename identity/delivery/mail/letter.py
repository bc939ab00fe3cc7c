"""A mail to a user."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Letter:
    """`text` is plain text. Values in it that a user chose must not look like links to mail programs.

    `language` is the tag of its language, empty in letters that an earlier version queued.
    """

    to: str
    subject: str
    text: str = field(repr=False)
    language: str = ""


def paragraphs(*texts: str) -> str:
    return "".join(f"{text}\n\n" for text in texts[:-1]) + f"{texts[-1]}\n"
