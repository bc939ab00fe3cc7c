"""The foundation of every service: errors, policies, dispatch, channels, configuration, clocks and queries.

No module of this package imports the engine, identity or the edge.
"""
