"""One writer per partition: drain the queue, run the engine over the batch, commit it whole, answer."""
