"""Bounds of numbers in the configuration."""


def expect_within(key: str, value: int, least: int, most: int) -> None:
    """Raises ValueError for a number out of bounds."""
    if not least <= value <= most:
        raise ValueError(f"{key}: expected {least} to {most}, found {value}")
