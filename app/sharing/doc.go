// Package sharing says who may see and use a cluster beside its owner: persons and groups, each with an access and possibly until a time, and
// everyone in the tenant. It uses app/cluster.
package sharing
