package app

import "context"

// Accounts asks provider accounts, from where the server is, what they would do.
type Accounts interface {
	// CheckAccount opens an account and looks at it; see AccountChecker. An account that does not open is a finding, too. An error says
	// that it cannot be asked from here.
	CheckAccount(ctx context.Context, spec ProviderSpec, needs AccountNeeds) ([]Finding, error)
	// Offers tells what an account can make; see Offerer. EInvalid, reason no_offers, where it does not tell.
	Offers(ctx context.Context, spec ProviderSpec) (Offers, error)
}

// Rank puts what is wrong first, then warnings.
func (f Finding) Rank() int {
	switch {
	case f.OK:
		return 2
	case f.Warning:
		return 1
	}
	return 0
}
