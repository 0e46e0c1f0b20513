// Package request reads requests for layouts and their templates, in the same way for packages solver, explain and
// change: which types and services may be used, which services must coexist, why a request is refused, and, in a
// review, everything that is wrong with one. It uses app and humanize, and doesn't know how layouts are found.
package request
