// Package catalog holds the pages of catalog entries: lists, versions, the form beside its YAML, trials, reviews and
// imports. A trial shows a plan as package plan draws it, and parameters as package template asks for them.
package catalog

//go:generate go run ../page/generate.go
