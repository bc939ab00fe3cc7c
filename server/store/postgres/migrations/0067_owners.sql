-- Additive
-- Indexes that find records by their owners, which stand in the content of the records only.

CREATE INDEX authorization_code_client_id ON identity.authorization_code (tenant_id, (identity.owner_of(content, '{client_id}') COLLATE "C"), id);
CREATE INDEX authorization_code_authentication_user_id ON identity.authorization_code (tenant_id, (identity.owner_of(content, '{authentication,user_id}') COLLATE "C"), id);
CREATE INDEX authorization_request_client_id ON identity.authorization_request (tenant_id, (identity.owner_of(content, '{client_id}') COLLATE "C"), id);
CREATE INDEX authorization_request_user_id ON identity.authorization_request (tenant_id, (identity.owner_of(content, '{user_id}') COLLATE "C"), id);
CREATE INDEX backchannel_notification_client_id ON identity.backchannel_notification (tenant_id, (identity.owner_of(content, '{client_id}') COLLATE "C"), id);
CREATE INDEX backchannel_request_client_id ON identity.backchannel_request (tenant_id, (identity.owner_of(content, '{client_id}') COLLATE "C"), id);
CREATE INDEX ceremony_user_id ON identity.ceremony (tenant_id, (identity.owner_of(content, '{user_id}') COLLATE "C"), id);
CREATE INDEX code_question_user_id ON identity.code_question (tenant_id, (identity.owner_of(content, '{user_id}') COLLATE "C"), id);
CREATE INDEX device_client_id ON identity.device (tenant_id, (identity.owner_of(content, '{client_id}') COLLATE "C"), id);
CREATE INDEX device_code_client_id ON identity.device_code (tenant_id, (identity.owner_of(content, '{client_id}') COLLATE "C"), id);
CREATE INDEX device_code_authentication_user_id ON identity.device_code (tenant_id, (identity.owner_of(content, '{authentication,user_id}') COLLATE "C"), id);
CREATE INDEX forward_request_client_id ON identity.forward_request (tenant_id, (identity.owner_of(content, '{client_id}') COLLATE "C"), id);
CREATE INDEX forward_session_client_id ON identity.forward_session (tenant_id, (identity.owner_of(content, '{client_id}') COLLATE "C"), id);
CREATE INDEX link_user_id ON identity.link (tenant_id, (identity.owner_of(content, '{user_id}') COLLATE "C"), id);
CREATE INDEX modification_token_user_id ON identity.modification_token (tenant_id, (identity.owner_of(content, '{user_id}') COLLATE "C"), id);
CREATE INDEX pending_link_user_id ON identity.pending_link (tenant_id, (identity.owner_of(content, '{user_id}') COLLATE "C"), id);
CREATE INDEX pending_link_provider_id ON identity.pending_link (tenant_id, (identity.owner_of(content, '{provider_id}') COLLATE "C"), id);
CREATE INDEX pushed_request_client_id ON identity.pushed_request (tenant_id, (identity.owner_of(content, '{client_id}') COLLATE "C"), id);
CREATE INDEX upstream_login_provider_id ON identity.upstream_login (tenant_id, (identity.owner_of(content, '{provider_id}') COLLATE "C"), id);
