"""What every service stands on: errors, policy, dispatch, channels, configuration, clock, queries.

Knows no service: nothing here imports the engine, identity or the edge.
"""
