package site

import "muster/app/build"

// RuleTexts reads and writes rules of build hooks as people write them.
type RuleTexts interface {
	// Read returns the rules of a text; EInvalid, with the place, where it is none.
	Read(text string) ([]build.BuildRule, error)
	Write(rules []build.BuildRule) (string, error)
}

// HooksPath is where build systems and their builds speak to us, without an account.
const HooksPath = "/hooks/"
