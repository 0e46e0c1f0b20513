package executable

import "muster/app/program"

// Prefix is what names of programs begin with; the rest is the type of provider.
const Prefix = program.ProviderPrefix

// vet refuses a program that someone else could have written, or could exchange: it would run with all that Muster may do. It is looked at again before
// each start.
func vet(path string) error { return program.Vet(path, Prefix) }
