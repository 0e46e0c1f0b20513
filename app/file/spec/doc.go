// Package spec reads and writes what to ask for to get a cluster, as a file for people. It asks nobody and does no input or output. Errors
// are *app.Error, EInvalid or ETooLarge, and name the line.
package spec
