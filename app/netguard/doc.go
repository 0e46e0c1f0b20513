// Package netguard keeps addresses that tenants enter out of private networks: hooks, callbacks, resources and the APIs of their own providers. It resolves a name,
// checks the addresses, and connects to an address that it has checked.
package netguard
