// Package payload reads JSON that others wrote: strictly, with limits, and saying where it is not what it should be. A member asks an Object
// for what it needs by name; the first thing that is wrong is kept, so that a member reads a body through without looking at errors in
// between. Nothing here panics on what was sent; all errors are EInvalid with Field.
package payload
