// Package pool holds the pages and the REST operations of pools of machines that are ready. It uses packages page and
// site only.
package pool

//go:generate go run ../page/generate.go
