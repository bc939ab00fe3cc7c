-- Additive: open user tasks, the most urgent first and of equally urgent ones the oldest.

CREATE INDEX user_task_urgency ON runtime.user_task (tenant_id, priority DESC, creation_date, user_task_key);
