"""One module per family of forms: each turns nodes into closures, with what is constant folded in.

A function here takes the node, the names around it and the compiler for the parts of the node.
"""
