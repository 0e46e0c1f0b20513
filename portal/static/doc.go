// Package static holds the style sheets, scripts and icon that browsers fetch besides pages. They are embedded in the
// binary. The address of each file has a hash of its content, so browsers may cache it forever.
package static
