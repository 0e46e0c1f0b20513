// Package activity reads the audit log as a feed: together with the clusters and requests that entries are about, as far as a reader sees them.
package activity
