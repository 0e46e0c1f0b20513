// Package lease keeps when clusters end, sleep and wake: leases with their warnings, and schedules. It uses packages
// cluster, policy and receipt.
package lease
