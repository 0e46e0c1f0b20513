// Package usage reads what machines were used and what they cost, and which costs are committed.
package usage
