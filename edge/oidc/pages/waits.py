"""Waiting times in words for users; `steps.js` has the same for scripts."""

# The length of a unit in seconds, its name, and the least number of seconds for which it is used.
_UNITS = ((86_400, "day", 36 * 3600), (3600, "hour", 90 * 60), (60, "minute", 60), (1, "second", 0))


def wait_in_words(seconds: int) -> str:
    """Return a rounded time such as `9 minutes`, empty when the time is unknown."""
    if not seconds:
        return ""
    length, name = next((length, name) for length, name, least in _UNITS if least <= seconds)
    number = -(-seconds // length)
    return f"{number} {name}{'' if number == 1 else 's'}"
