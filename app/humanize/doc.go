// Package humanize writes values for people, the same way in every face: durations, counts, sizes, lists, and errors of libraries in plain
// English. It also suggests the nearest known name for one that is unknown. It knows nothing else of Muster, so everything may use it.
package humanize
