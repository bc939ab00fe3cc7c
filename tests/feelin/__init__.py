"""feelin, the FEEL engine of npm: what ours is compared with, expression by expression, and measured against.

`python -m tests.feelin COUNT SEED` compares; `make .venv/.feelin` installs it, and node is needed.
"""
