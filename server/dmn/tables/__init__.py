"""Decision tables: rules are found through an index, what they give is combined by the hit policy (DMN 1.5 §8)."""
