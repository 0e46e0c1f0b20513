// Package pool holds the pages of pools of machines that are ready. It uses package page only.
package pool

//go:generate go run ../page/generate.go
