// Package ownership renames clusters and transfers them to other owners.
package ownership
