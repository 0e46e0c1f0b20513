// Package providervalue holds the commands and flags for what users set for the providers of their clusters.
package providervalue
