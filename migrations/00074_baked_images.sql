-- +goose Up
-- Images that Muster makes of machines once services are installed on them, so that others start with these. Each is a tenant's, in one provider account.
CREATE TABLE baked_images (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant         TEXT NOT NULL,
    image_key      TEXT NOT NULL,   -- a hash of all that it is made of
    template       TEXT NOT NULL,   -- that it was built for
    provider       TEXT NOT NULL,
    zone           TEXT NOT NULL,
    hardware       TEXT NOT NULL,   -- that it was built on
    image          TEXT NOT NULL,   -- that it is based on, by the catalog's name
    services       TEXT NOT NULL,   -- JSON, in the order in which they are installed
    recipe         TEXT NOT NULL,   -- JSON: what it is built by; holds no secrets
    state          TEXT NOT NULL,   -- waiting, building, ready, failed, deleting
    provider_image TEXT NOT NULL,   -- by the provider's name, '' until it is ready
    cluster        TEXT NOT NULL,   -- on whose machine it is built, '' before
    created_by     TEXT NOT NULL,
    created_at     BIGINT NOT NULL,
    ready_at       BIGINT NOT NULL,
    used_at        BIGINT NOT NULL,
    uses           BIGINT NOT NULL,
    install_time   BIGINT NOT NULL, -- microseconds that its installs took
    keep_unused    BIGINT NOT NULL, -- microseconds
    unused_at      BIGINT NOT NULL, -- when it is deleted if it isn't used until then; 0: not by itself
    error          TEXT NOT NULL
);
CREATE UNIQUE INDEX baked_images_live ON baked_images (tenant, image_key) WHERE state IN ('waiting', 'building', 'ready');
CREATE UNIQUE INDEX baked_images_building ON baked_images (tenant, provider) WHERE state = 'building';
CREATE INDEX baked_images_of_tenant ON baked_images (tenant, id);
CREATE INDEX baked_images_of_cluster ON baked_images (cluster) WHERE cluster <> '';
CREATE INDEX baked_images_open ON baked_images (state, id) WHERE state IN ('waiting', 'building', 'deleting');
CREATE INDEX baked_images_unused ON baked_images (unused_at) WHERE unused_at > 0;

-- When images of a template are built by themselves.
CREATE TABLE bake_rules (
    tenant        TEXT NOT NULL,
    template      TEXT NOT NULL,
    after_creates BIGINT NOT NULL,
    within        BIGINT NOT NULL, -- microseconds
    keep_unused   BIGINT NOT NULL, -- microseconds
    looked_at     TEXT NOT NULL DEFAULT '', -- the newest cluster of the template when the rule was last applied
    set_by        TEXT NOT NULL,
    set_at        BIGINT NOT NULL,
    PRIMARY KEY (tenant, template)
);
CREATE INDEX clusters_of_template ON clusters (tenant, template, created_at);

-- +goose Down
DROP INDEX clusters_of_template;
DROP TABLE bake_rules;
DROP TABLE baked_images;
