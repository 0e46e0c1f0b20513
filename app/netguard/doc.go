// Package netguard keeps what tenants name from leading inside: hooks, callbacks, resources and the APIs of their own providers. Addresses are checked after names
// were looked up, and what was checked is what is connected to.
package netguard
