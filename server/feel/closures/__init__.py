"""Compiles nodes to closures, with constants folded; one module per family of nodes.

Each function takes a node, the names in scope, and the compiler for the node's parts.
"""
