// Package activity serves what people do in a tenant: the page, its live updates, and the REST operation.
package activity
