// Package pool holds the pages of pools of ready clusters. They use the shared parts of package page only.
package pool

//go:generate go run ../page/generate.go
