"""Dates, times and durations as in FEEL.

Years range from -999999999 to 999999999 and fractions to nanoseconds, beyond the range of Python's types. Any
value out of bounds raises ValueError.
"""
