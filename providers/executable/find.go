package executable

import "muster/app/program"

// Prefix is what names of programs begin with; the rest is the type of provider.
const Prefix = "muster-provider-"

// Find gives the executable files of a directory that look like programs, by name of the type, sorted.
func Find(dir string) (names []string, paths map[string]string, err error) {
	return program.Find(dir, Prefix)
}

// Vet refuses a program that somebody else could have written, or could exchange: it would run with all that Muster may do. It is looked at again before
// each start.
func Vet(path string) error { return program.Vet(path, Prefix) }
