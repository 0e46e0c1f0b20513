// Package static holds what browsers fetch besides pages: the style sheet, the scripts and the icon. All of it is in
// the binary, and each file's address carries a hash of its content, so browsers may keep it for ever.
package static
