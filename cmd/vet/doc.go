// Command vet is what `make check` hands to `go vet -vettool`. Go starts the tool for each package that ours depend on, some 860 of them, only
// to learn which of their functions are like Printf. Those calls end here at once, with nothing learned; Go's own vet does everything else.
//
// What is lost: wrong formats in calls of such functions of other modules. Vet knows those of the standard library without being told.
package main
