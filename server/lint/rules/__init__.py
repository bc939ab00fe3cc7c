"""The rules, in a module per family."""
