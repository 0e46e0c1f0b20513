// Package solvertest makes problems for solvers: catalogs with one template, t, of services s000, s001 and so on, as large
// and as entangled as is asked for. The same call gives the same catalog; small random problems depend on their source
// alone, and BruteForce answers them without any solver's help. Check is a witness of what layouts keep. Tests, benchmarks
// and the table of `make bench` share it.
package solvertest
