// Package reconcile compares providers' accounts with the ledger: it finds machines that are lost and machines that belong to no
// cluster, and proves that nothing is left of clusters that were deleted.
// It opens accounts as workers do, and keeps what it saw in the store.
package reconcile
