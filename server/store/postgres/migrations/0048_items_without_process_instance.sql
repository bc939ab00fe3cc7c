-- Additive: older programs always write a process instance. Items of deletions of decision instances have none.

ALTER TABLE runtime.batch_operation_item ALTER COLUMN process_instance_key DROP NOT NULL;
