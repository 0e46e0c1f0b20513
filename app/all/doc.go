// Package all joins the services of the domains on top of the store, for faces and tests that take most of them. It has no
// rules of its own. A package that needs only a few domains takes their services instead.
package all
