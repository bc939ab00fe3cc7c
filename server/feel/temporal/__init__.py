"""Dates, times and durations as FEEL has them.

Years reach from -999999999 to 999999999 and fractions to the nanosecond, so these are own values, not Python's.
A value out of bounds is a ValueError, wherever it arises.
"""
