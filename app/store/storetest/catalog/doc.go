// Package catalog has the cases of every store about the catalog: versions of what was read from files, and what tenants add. It uses kit.
package catalog
