// Package providervalue holds the page and the REST operations of what users set for the providers of their clusters, and the fields of forms that ask for it.
package providervalue
