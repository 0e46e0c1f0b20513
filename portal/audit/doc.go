// Package audit holds the pages and REST operations of the audit log and of secrets. It uses packages page and site only.
package audit
