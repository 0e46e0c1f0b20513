// Package phrase puts values into words as Muster says them everywhere: lists, counts, durations, money, the nearest name for one that is
// unknown, and decoders' messages in plain English. It knows nothing else of Muster, so everything may use it.
package phrase
