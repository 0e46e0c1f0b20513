// Package resource keeps files and values that tenants hand to members of families, with their versions and who uses them.
// It uses identity to see that a tenant is open.
package resource
