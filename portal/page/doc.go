// Package page is what all pages share: the frame with its navigation, forms and tables, words for durations, costs and
// states, and the problem page. The pages of a noun are in the package of that noun beside this one (cluster, catalog,
// policy …); they turn app values into HTML and nothing else: they call no use case, read no request and keep no state.
// A page needs neither inline script nor inline style, so that the portal's content security policy can forbid both.
//
// The *_templ.go files are made from the *.templ files by `go generate ./portal/...` and are committed.
package page

//go:generate go run generate.go
