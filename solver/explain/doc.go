// Package explain says why a request has no layout, and what would make one possible. It knows the words of templates and
// asks a solver; how that finds layouts is not its business. All it needs is app.Solver. One that can tell faster whether
// there is a layout at all, as solver.Solver can, is asked only that.
//
// Every constraint of the template and of the request is a clause that can be left out (clause.go). Clauses are left out in
// chunks as long as there is still no layout (conflict.go); what stays is a smallest conflict. Then changes are tried,
// nearest first (remedy.go, fix.go). A request that cannot be asked at all is reviewed for everything that is wrong with it
// (problem.go, with solver/internal/request), and mended as far as can be guessed (repair.go).
package explain
