package site

import (
	"muster/app"
)

// RuleTexts reads and writes rules of build hooks as people write them.
type RuleTexts interface {
	// Read gives the rules of a text; EInvalid, with the place, where it is none.
	Read(text string) ([]app.BuildRule, error)
	Write(rules []app.BuildRule) (string, error)
}

// HooksPath is where build systems and their builds speak to us, without an account.
const HooksPath = "/hooks/"
