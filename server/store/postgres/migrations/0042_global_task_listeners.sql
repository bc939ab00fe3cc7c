-- Global task listeners. What partitions know of them is in `gnomon.definition_document`.

CREATE TABLE runtime.global_task_listener (
    partition_id smallint NOT NULL,
    global_task_listener_key bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    event_types text[] COLLATE "C" NOT NULL,
    retries bigint NOT NULL,
    after_non_global boolean NOT NULL,
    priority bigint NOT NULL,
    source text COLLATE "C" NOT NULL,
    PRIMARY KEY (partition_id, global_task_listener_key)
) WITH (fillfactor = 70);

CREATE INDEX global_task_listener_id ON runtime.global_task_listener (tenant_id, id);

CREATE VIEW gnomon.global_task_listener AS
SELECT partition_id, global_task_listener_key, tenant_id, id, type, event_types, retries, after_non_global, priority,
    source
FROM runtime.global_task_listener;
