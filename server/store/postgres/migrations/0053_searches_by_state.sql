-- Additive: orders of searches by state. Ended user tasks by their end; failures, which are few, without the others.

CREATE INDEX user_task_state_completion
    ON history.user_task (tenant_id, state, completion_date, user_task_key);

CREATE INDEX decision_instance_failed_date
    ON runtime.decision_instance (tenant_id, evaluation_date, decision_instance_key) WHERE state = 'FAILED';
CREATE INDEX decision_instance_failure
    ON runtime.decision_instance (tenant_id, decision_instance_key) WHERE evaluation_failure IS NOT NULL;

CREATE INDEX batch_operation_item_failed
    ON runtime.batch_operation_item (tenant_id, batch_operation_item_key) WHERE state = 'FAILED';
