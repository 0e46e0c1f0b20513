// Package solvertest creates problems for solvers: catalogs with one template, t, of services s000, s001 and so on, as
// large and as entangled as requested. The same call returns the same catalog; small random problems depend on their
// source only, and BruteForce solves them without a solver. Check verifies a layout independently. Tests, benchmarks
// and the table of `make bench` use it.
package solvertest
