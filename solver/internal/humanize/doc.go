// Package humanize writes numbers of things and lists of names as people read them, alike in refusals, explanations and
// notes. It uses nothing of ours.
package humanize
