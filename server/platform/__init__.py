"""The foundation of every service: errors, policy, dispatch, channels, configuration, clock, queries.

Knows no service: nothing here imports the engine, identity or the edge.
"""
