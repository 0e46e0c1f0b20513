// Package page is what all pages share: the frame with its navigation, forms and tables, wording for durations, costs
// and states, and the error page. The pages of a noun are in the package of that noun beside this one (cluster,
// catalog, policy …). They turn values of app into HTML and nothing else: they call no use case, read no request and
// keep no state. No page has inline scripts or styles, so that the portal's content security policy can forbid both.
//
// The *_templ.go files are generated from the *.templ files by `make generate` and are committed.
package page
