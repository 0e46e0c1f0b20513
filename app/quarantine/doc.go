// Package quarantine keeps failed machines for inspection: it decides which machines of an operation are kept instead of deleted, makes up the
// one-node cluster that each of them is in from then on, and lists them. Such a cluster has a lease, a receipt and a share of the quotas as any
// other, so that a kept machine is never forgotten. It uses app/catalog, app/cluster and app/policy.
package quarantine
