-- Additive: tables of their own.
-- Message subscriptions, live and ended, and the messages that were correlated to them. Subscriptions of start events
-- belong to no process instance and stay with their definition.

CREATE TABLE runtime.message_subscription (
    partition_id smallint NOT NULL,
    message_subscription_key bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    process_definition_key bigint NOT NULL,
    process_definition_id text COLLATE "C" NOT NULL,
    process_definition_name text COLLATE "C",
    process_definition_version bigint NOT NULL,
    element_id text COLLATE "C" NOT NULL,
    message_name text COLLATE "C" NOT NULL,
    last_updated_date timestamptz NOT NULL,
    extension_properties jsonb NOT NULL,
    tool_name text COLLATE "C",
    inbound_connector_type text COLLATE "C",
    message_subscription_state text COLLATE "C" NOT NULL,
    message_subscription_type text COLLATE "C" NOT NULL,
    is_open boolean NOT NULL,
    process_instance_key bigint,
    element_instance_key bigint,
    correlation_key text COLLATE "C",
    root_process_instance_key bigint,
    PRIMARY KEY (partition_id, message_subscription_key)
) WITH (fillfactor = 80);

CREATE TABLE history.message_subscription (
    bucket date NOT NULL,
    partition_id smallint NOT NULL,
    message_subscription_key bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    process_definition_key bigint NOT NULL,
    process_definition_id text COLLATE "C" NOT NULL,
    process_definition_name text COLLATE "C",
    process_definition_version bigint NOT NULL,
    element_id text COLLATE "C" NOT NULL,
    message_name text COLLATE "C" NOT NULL,
    last_updated_date timestamptz NOT NULL,
    extension_properties jsonb NOT NULL,
    tool_name text COLLATE "C",
    inbound_connector_type text COLLATE "C",
    message_subscription_state text COLLATE "C" NOT NULL,
    message_subscription_type text COLLATE "C" NOT NULL,
    is_open boolean NOT NULL,
    process_instance_key bigint,
    element_instance_key bigint,
    correlation_key text COLLATE "C",
    root_process_instance_key bigint,
    PRIMARY KEY (partition_id, message_subscription_key, bucket)
) PARTITION BY RANGE (bucket);

CREATE TABLE runtime.correlated_message_subscription (
    partition_id smallint NOT NULL,
    correlated_message_subscription_key bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    message_key bigint NOT NULL,
    subscription_key bigint NOT NULL,
    message_name text COLLATE "C" NOT NULL,
    correlation_key text COLLATE "C",
    correlation_time timestamptz NOT NULL,
    process_definition_key bigint NOT NULL,
    process_definition_id text COLLATE "C" NOT NULL,
    process_instance_key bigint NOT NULL,
    element_id text COLLATE "C" NOT NULL,
    element_instance_key bigint,
    root_process_instance_key bigint,
    PRIMARY KEY (partition_id, correlated_message_subscription_key)
);

CREATE TABLE history.correlated_message_subscription (
    bucket date NOT NULL,
    partition_id smallint NOT NULL,
    correlated_message_subscription_key bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    message_key bigint NOT NULL,
    subscription_key bigint NOT NULL,
    message_name text COLLATE "C" NOT NULL,
    correlation_key text COLLATE "C",
    correlation_time timestamptz NOT NULL,
    process_definition_key bigint NOT NULL,
    process_definition_id text COLLATE "C" NOT NULL,
    process_instance_key bigint NOT NULL,
    element_id text COLLATE "C" NOT NULL,
    element_instance_key bigint,
    root_process_instance_key bigint,
    PRIMARY KEY (partition_id, correlated_message_subscription_key, bucket)
) PARTITION BY RANGE (bucket);

CREATE INDEX message_subscription_key ON runtime.message_subscription (tenant_id, message_subscription_key);
CREATE INDEX message_subscription_instance
    ON runtime.message_subscription (tenant_id, process_instance_key, message_subscription_key);
CREATE INDEX message_subscription_element ON runtime.message_subscription (tenant_id, element_instance_key);
CREATE INDEX message_subscription_definition ON runtime.message_subscription (tenant_id, process_definition_key);
CREATE INDEX message_subscription_name
    ON runtime.message_subscription (tenant_id, message_name, message_subscription_key)
    WHERE (char_length(message_name) > 256) IS NOT TRUE;
CREATE INDEX message_subscription_correlation
    ON runtime.message_subscription (tenant_id, correlation_key, message_subscription_key)
    WHERE (char_length(correlation_key) > 256) IS NOT TRUE;

CREATE INDEX correlated_message_subscription_key
    ON runtime.correlated_message_subscription (tenant_id, correlated_message_subscription_key);
CREATE INDEX correlated_message_subscription_instance
    ON runtime.correlated_message_subscription (tenant_id, process_instance_key, correlated_message_subscription_key);
CREATE INDEX correlated_message_subscription_element
    ON runtime.correlated_message_subscription (tenant_id, element_instance_key);
CREATE INDEX correlated_message_subscription_definition
    ON runtime.correlated_message_subscription (tenant_id, process_definition_key);
CREATE INDEX correlated_message_subscription_name
    ON runtime.correlated_message_subscription (tenant_id, message_name, correlated_message_subscription_key)
    WHERE (char_length(message_name) > 256) IS NOT TRUE;
CREATE INDEX correlated_message_subscription_correlation
    ON runtime.correlated_message_subscription (tenant_id, correlation_key, correlated_message_subscription_key)
    WHERE (char_length(correlation_key) > 256) IS NOT TRUE;
CREATE INDEX correlated_message_subscription_message
    ON runtime.correlated_message_subscription (tenant_id, message_key);
CREATE INDEX correlated_message_subscription_subscription
    ON runtime.correlated_message_subscription (tenant_id, subscription_key);
CREATE INDEX correlated_message_subscription_time
    ON runtime.correlated_message_subscription (tenant_id, correlation_time, correlated_message_subscription_key);

CREATE INDEX message_subscription_key ON history.message_subscription (tenant_id, message_subscription_key);
CREATE INDEX message_subscription_instance
    ON history.message_subscription (tenant_id, process_instance_key, message_subscription_key);
CREATE INDEX message_subscription_element ON history.message_subscription (tenant_id, element_instance_key);
CREATE INDEX message_subscription_definition
    ON history.message_subscription (tenant_id, process_definition_key, message_subscription_state);
CREATE INDEX message_subscription_name
    ON history.message_subscription (tenant_id, message_name, message_subscription_key)
    WHERE (char_length(message_name) > 256) IS NOT TRUE;
CREATE INDEX message_subscription_correlation
    ON history.message_subscription (tenant_id, correlation_key, message_subscription_key)
    WHERE (char_length(correlation_key) > 256) IS NOT TRUE;
CREATE INDEX message_subscription_date
    ON history.message_subscription (tenant_id, last_updated_date, message_subscription_key);

CREATE INDEX correlated_message_subscription_key
    ON history.correlated_message_subscription (tenant_id, correlated_message_subscription_key);
CREATE INDEX correlated_message_subscription_instance
    ON history.correlated_message_subscription (tenant_id, process_instance_key, correlated_message_subscription_key);
CREATE INDEX correlated_message_subscription_element
    ON history.correlated_message_subscription (tenant_id, element_instance_key);
CREATE INDEX correlated_message_subscription_definition
    ON history.correlated_message_subscription (tenant_id, process_definition_key);
CREATE INDEX correlated_message_subscription_name
    ON history.correlated_message_subscription (tenant_id, message_name, correlated_message_subscription_key)
    WHERE (char_length(message_name) > 256) IS NOT TRUE;
CREATE INDEX correlated_message_subscription_correlation
    ON history.correlated_message_subscription (tenant_id, correlation_key, correlated_message_subscription_key)
    WHERE (char_length(correlation_key) > 256) IS NOT TRUE;
CREATE INDEX correlated_message_subscription_message
    ON history.correlated_message_subscription (tenant_id, message_key);
CREATE INDEX correlated_message_subscription_subscription
    ON history.correlated_message_subscription (tenant_id, subscription_key);
CREATE INDEX correlated_message_subscription_time
    ON history.correlated_message_subscription (tenant_id, correlation_time, correlated_message_subscription_key);

CREATE VIEW gnomon.message_subscription AS
SELECT
    partition_id, message_subscription_key, tenant_id, process_definition_key, process_definition_id,
    process_definition_name, process_definition_version, element_id, message_name, last_updated_date,
    extension_properties, tool_name, inbound_connector_type, message_subscription_state, message_subscription_type, is_open,
    process_instance_key, element_instance_key, correlation_key, root_process_instance_key
FROM runtime.message_subscription
UNION ALL
SELECT
    partition_id, message_subscription_key, tenant_id, process_definition_key, process_definition_id,
    process_definition_name, process_definition_version, element_id, message_name, last_updated_date,
    extension_properties, tool_name, inbound_connector_type, message_subscription_state, message_subscription_type, is_open,
    process_instance_key, element_instance_key, correlation_key, root_process_instance_key
FROM history.message_subscription;

CREATE VIEW gnomon.correlated_message_subscription AS
SELECT
    partition_id, correlated_message_subscription_key, tenant_id, message_key, subscription_key, message_name,
    correlation_key, correlation_time, process_definition_key, process_definition_id, process_instance_key,
    element_id, element_instance_key, root_process_instance_key
FROM runtime.correlated_message_subscription
UNION ALL
SELECT
    partition_id, correlated_message_subscription_key, tenant_id, message_key, subscription_key, message_name,
    correlation_key, correlation_time, process_definition_key, process_definition_id, process_instance_key,
    element_id, element_instance_key, root_process_instance_key
FROM history.correlated_message_subscription;
