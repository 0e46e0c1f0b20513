// Package portal is the web face of Muster: pages for people, the REST API for programs, and the event streams that
// keep both up to date. A handler parses, asks one use case, chooses and renders; it decides nothing that another face
// would have to decide too, and it touches neither database nor cloud.
//
// Pages work without JavaScript and are livelier with it. People sign in and carry a session cookie; programs carry a
// bearer token. All routes are in routes.go, the pages of a noun in the package of that noun (cluster, catalog, policy
// …), what all pages share in package page, everything static in the folder static.
// Errors of the use cases are turned into pages and RFC 9457 problems in error.go, and nowhere else.
package portal
