// Package lease shows and moves the ends of clusters: warnings before a lease ends, what would keep machines from being deleted then, and deletions that
// are paused for too long. It uses app/catalog, app/cluster and app/identity.
package lease
