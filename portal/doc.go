// Package portal is Muster's web face: pages for people, the REST API for programs, and the event streams that keep both up to date. A
// handler parses, calls one use case, and renders. It makes no decisions that another face would also have to make, and it touches neither
// database nor cloud.
//
// Pages work without JavaScript, and update themselves with it. People sign in and have a session cookie; programs send
// a bearer token. A noun's handlers, REST operations and pages are in the package of that noun (cluster, catalog, policy …); services.go joins
// them. Each lists its routes in its own routes.go, or, if it has several parts, beside their handlers; routes.go here joins them. What handlers
// share is in package site, where errors of
// use cases become pages and RFC 9457 problems (error.go); what pages share is in package page, and static files are in
// package static.
package portal
