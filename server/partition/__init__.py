"""Partitions with one writer each: drain the queue, run the engine over the batch, commit it as a whole, answer."""
