"""The dialects of FEEL and DMN that commands evaluate in."""

from enum import StrEnum


class DialectChoice(StrEnum):
    CAMUNDA = "camunda"
    STANDARD = "standard"
