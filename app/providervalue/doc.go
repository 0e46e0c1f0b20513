// Package providervalue holds the values that a cluster's users set for its provider, such as credentials of their own: which settings they may set,
// what these may be, and the account that the provider becomes with them. Sensitive values are kept encrypted and never shown again.
package providervalue
