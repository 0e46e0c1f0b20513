// Package resource keeps the versions of archives and files for automators, and which clusters use them; contents are
// kept by package blob. It uses package identity to check that a tenant isn't being deleted.
package resource
