// Package resource manages the archives and files that automators use: pushing, versions, staging, and which version a
// cluster is pinned to. Their contents are kept by a BlobStore. It uses no other domain.
package resource
