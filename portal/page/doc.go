// Package page is how the portal looks and speaks: HTML templates, the pictures drawn for them, and the words for
// durations, costs and states. It turns app values into HTML and nothing else: it calls no use case, reads no request
// and keeps no state. A page needs neither inline script nor inline style, so that the portal's content security
// policy can forbid both.
//
// The *_templ.go files are made from the *.templ files by `go generate ./portal/page` and are committed.
package page

//go:generate go run generate.go
