// Package explain says why a request has no layout, and which changes would make one possible. It knows the terms of
// templates and asks any app.Solver; how that finds layouts doesn't matter here. A solver that can tell faster whether
// there is a layout at all, as solver.Solver can, is asked only that.
//
// Every constraint of the template and of the request is a clause that can be left out (clause.go). Clauses are left
// out in groups while there is still no layout (conflict.go); those that remain are a smallest conflict. Then changes
// are tried, closest first (remedy.go, fix.go). An invalid request is reviewed for everything that is wrong with it
// (problem.go, with solver/internal/request), and corrected where the intent is clear (repair.go).
package explain
