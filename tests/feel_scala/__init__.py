"""feel-scala, the FEEL engine of Camunda: what our Camunda dialect is compared with, expression by expression.

`make feel-reference` compares; `make .venv/.feel-scala` installs it, and Maven is needed. Java comes as a wheel.
"""
