-- +goose Up
-- What services' actions told of nodes, for the configurations of later steps: the newest value of each name.
CREATE TABLE node_facts (
    cluster TEXT NOT NULL,
    service TEXT NOT NULL,
    name    TEXT NOT NULL,
    node    TEXT NOT NULL,
    number  BIGINT NOT NULL, -- the node's, so that the first that told a name is found
    tenant  TEXT NOT NULL,
    value   BLOB NOT NULL, -- sealed
    secret  BIGINT NOT NULL,
    at      BIGINT NOT NULL,
    PRIMARY KEY (cluster, service, name, node)
);
CREATE INDEX node_facts_first ON node_facts (cluster, service, name, number);
CREATE INDEX node_facts_of_node ON node_facts (cluster, node);

-- +goose Down
DROP TABLE node_facts;
