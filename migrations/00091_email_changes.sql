-- +goose Up
-- Email addresses that people have entered for their own account and not confirmed yet. message is the newest one with a link; token_hash
-- is that of the link in it, empty until it is sent.
CREATE TABLE email_changes (
    tenant TEXT NOT NULL,
    user_name TEXT NOT NULL,
    address TEXT NOT NULL,
    requested_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    message TEXT NOT NULL,
    token_hash BLOB NOT NULL,
    PRIMARY KEY (tenant, user_name)
);
CREATE INDEX email_changes_message ON email_changes (message);
CREATE INDEX email_changes_expire ON email_changes (expires_at);

-- Emails about the address of an account: 'confirm' with a link, to a new address; 'changed' to an old one. The columns from state on are
-- as in notification_emails. limit_key is the address as it counts for limits.
CREATE TABLE address_emails (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    user_name TEXT NOT NULL,
    address TEXT NOT NULL,
    limit_key TEXT NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    queued_at BIGINT NOT NULL,
    next_at BIGINT NOT NULL,
    holder TEXT NOT NULL,
    error TEXT NOT NULL
);
CREATE INDEX address_emails_due ON address_emails (next_at) WHERE state = 'waiting';
CREATE INDEX address_emails_held ON address_emails (holder) WHERE holder <> '';
CREATE INDEX address_emails_person ON address_emails (tenant, user_name, queued_at);
CREATE INDEX address_emails_address ON address_emails (limit_key, queued_at);
CREATE INDEX address_emails_by_age ON address_emails (queued_at);

-- Servers that send email, by ID, and until when emails are queued for them. Each renews its own row.
CREATE TABLE email_servers (
    server TEXT PRIMARY KEY,
    until BIGINT NOT NULL
);

-- Tickets that led to ports of nodes, each used once, and until when they would work.
CREATE TABLE port_tickets (
    nonce TEXT PRIMARY KEY,
    until BIGINT NOT NULL
);
CREATE INDEX port_tickets_until ON port_tickets (until);

-- +goose Down
DROP TABLE port_tickets;
DROP TABLE email_servers;
DROP TABLE address_emails;
DROP TABLE email_changes;
