// Package request reads requests for layouts and their templates, alike for solver, explain and change: which types and
// services may be used, which services must coexist, for what reasons a request is refused, and in a review everything
// that is wrong with one. It knows app's values and nothing of how layouts are found.
package request
