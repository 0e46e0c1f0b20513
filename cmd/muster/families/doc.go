// Package families lists the providers and automators of this binary, built in or external, and finds catalog files.
// The server and the commands on catalog files use it, so that both check a catalog in the same way.
package families
