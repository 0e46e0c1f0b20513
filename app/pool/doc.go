// Package pool keeps machines ready so that clusters start faster: it creates, fills, drains and deletes pools. It uses
// app/catalog, app/cluster, app/policy and app/secret.
package pool
