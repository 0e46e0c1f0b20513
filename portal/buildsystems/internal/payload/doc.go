// Package payload reads JSON from other systems: strictly, with limits, and saying where it isn't as expected. A member
// asks an Object for fields by name. The first problem is kept, so that a member reads a whole body without checking
// errors in between. Nothing here panics, whatever was sent; all errors are EInvalid with Field.
package payload
