// Package all joins the services of the domains into one value, for faces and tests that still take all of them at once. It holds no
// rules of its own. What uses few domains takes their services instead.
package all
