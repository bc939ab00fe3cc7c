"""The dialects of FEEL and DMN for local evaluation."""

from enum import StrEnum


class DialectChoice(StrEnum):
    CAMUNDA = "camunda"
    STANDARD = "standard"
