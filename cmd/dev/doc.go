// Dev is the contributor's server and generator, for `make dev` and `make generate`.
//
// Serve runs the small build with the examples' catalog on loopback, with its own data directory, behind templ's proxy. After a change of
// code it builds and restarts the server and reloads open pages; after a change of a page's text it only reloads, since templ's
// development mode reads texts from files. Sign-ins and clusters are in the data directory, so they survive.
// `templ generate --watch` isn't used, because our pages need //go:noinline; see source.
package main
