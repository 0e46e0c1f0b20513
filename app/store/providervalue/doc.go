// Package providervalue keeps what users have set for the providers of their clusters, encrypted.
package providervalue
