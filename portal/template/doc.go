// Package template holds the pages of templates: the list, one template, and the fields that ask for its parameters in
// any form. It uses package page only.
package template

//go:generate go run ../page/generate.go
