package site

import "muster/app/build"

// RuleTexts reads and writes rules of build hooks as YAML.
type RuleTexts interface {
	// Read parses rules; EInvalid, with the location, if they're invalid.
	Read(text string) ([]build.Rule, error)
	Write(rules []build.Rule) (string, error)
}

// HooksPath is the path for build systems and builds, which have no account.
const HooksPath = "/hooks/"
