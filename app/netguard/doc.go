// Package netguard keeps addresses that tenants enter (webhooks, callbacks, resources, the APIs of their own providers)
// out of private networks. It resolves a name, checks the addresses, and connects only to an address that it has
// checked.
package netguard
