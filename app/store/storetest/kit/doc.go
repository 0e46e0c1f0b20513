// Package kit has what the cases of the stores' suite share: how a case is run, short ways to create, claim and end things, and plans
// that have the steps a case names. It knows no noun's cases; they use it.
package kit
