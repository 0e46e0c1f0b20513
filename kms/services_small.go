//go:build small

package kms

var largeServices = map[string]opener{}
