"""Decision tables: an index finds the rules, and the hit policy combines their results (DMN 1.5 §8)."""
