package app

import (
	"strings"
	"time"
)

// AccountState says how far the provider's account has been asked about a preview.
type AccountState string

// The states.
const (
	AccountChecked  AccountState = "checked"
	AccountChecking AccountState = "checking" // the account has not answered yet
	AccountUnknown  AccountState = "unknown"  // the account cannot be asked now
)

// AccountAnswer says whether the provider's account was asked about a preview. What it would refuse is among the preview's problems.
type AccountAnswer struct {
	Provider string       `json:"provider"`
	State    AccountState `json:"state"`
	At       time.Time    `json:"at,omitzero"`
}

// ProblemLines say for people what would go wrong, and whether the provider has been asked.
func (p Preview) ProblemLines() []string { return problemLines(p.Problems, p.Account) }

// ProblemLines are those of an amendment.
func (p AmendPreview) ProblemLines() []string { return problemLines(p.Problems, p.Account) }

func problemLines(problems []Finding, account *AccountAnswer) (lines []string) {
	for _, f := range problems {
		what := "Problem: "
		if f.Warning {
			what = "Warning: "
		}
		lines = append(lines, strings.TrimSpace(what+f.Message+" "+f.Hint))
	}
	if words := account.Words(); words != "" {
		lines = append(lines, words)
	}
	return lines
}

// Words say that the account has not answered; "" where it has.
func (a *AccountAnswer) Words() string {
	switch {
	case a == nil:
	case a.State == AccountChecking:
		return "Still checking what provider " + a.Provider + " would refuse."
	case a.State == AccountUnknown:
		return "Provider " + a.Provider + " couldn't be checked."
	}
	return ""
}
