// Package family is the contract of the families: what a provider and an automator are, what they describe of themselves, and what else they may be
// able to do.
package family
