"""Campaigns: processes are killed, paused and cut off under load, and then everything is counted.

`python -m tests.campaigns NAME` runs a long one and prints what it measured; the tests here are short ones.
"""
