// Package solver decides where things go.
package solver
