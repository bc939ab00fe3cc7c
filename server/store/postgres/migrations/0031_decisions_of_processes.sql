-- Additive: decision instances are found by the process instance and the element instance that evaluated them.

CREATE INDEX decision_instance_process_instance
    ON runtime.decision_instance (tenant_id, process_instance_key, decision_instance_key)
    WHERE process_instance_key IS NOT NULL;
CREATE INDEX decision_instance_element_instance
    ON runtime.decision_instance (tenant_id, element_instance_key, decision_instance_key)
    WHERE element_instance_key IS NOT NULL;
