// Package humanize writes counts and lists of names for people, in the same way in refusals, explanations and notes. It
// uses nothing of this module.
package humanize
