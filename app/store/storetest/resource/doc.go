// Package resource has the cases of every store about resources: versions that are staged, synced, recalled, pinned and swept. It uses
// kit.
package resource
