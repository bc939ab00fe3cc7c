"""How long a person has to wait, in words: `steps.js` has the same for the pages' scripts."""

# The length of a unit in seconds, its name, and from how many seconds on it is used.
_UNITS = ((86_400, "day", 36 * 3600), (3600, "hour", 90 * 60), (60, "minute", 60), (1, "second", 0))


def wait_in_words(seconds: int) -> str:
    """Return a rounded-up time such as `9 minutes`, and an empty text when the time is not known."""
    if not seconds:
        return ""
    length, name = next((length, name) for length, name, least in _UNITS if least <= seconds)
    number = -(-seconds // length)
    return f"{number} {name}{'' if number == 1 else 's'}"
