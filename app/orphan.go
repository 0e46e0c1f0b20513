package app

import "time"

// Account is what the reconciler last found in a provider account.
type Account struct {
	Provider string    `json:"provider"`
	BeganAt  time.Time `json:"began_at,omitzero"`
	EndedAt  time.Time `json:"ended_at,omitzero"` // of the last pass that ended, well or not
	Machines int       `json:"machines"`          // of ours
	Orphans  int       `json:"orphans"`
	Deleted  int       `json:"deleted"`   // in the last pass
	HeldBack int       `json:"held_back"` // due, but too many at once
	Lost     int       `json:"lost"`      // clusters with machines that are gone
	Error    string    `json:"error,omitempty"`
}

// Unlisted reports whether the last pass could not list the account: what it holds is not known.
func (a Account) Unlisted() bool { return a.Error != "" && a.Machines == 0 && a.Orphans == 0 }

// LiveIntent is a machine that is wanted, or that may still be there. Machine is "" until an answer named it.
type LiveIntent struct {
	ID      string
	Tenant  string
	Cluster string
	Node    string
	Machine string
	Over    bool // its cluster was deleted: no one wants it any more
}

// Operates reports whether an actor manages the installation as a whole.
func (a Actor) Operates() bool { return a.Role == RoleSuperadmin }

// MayHandleOrphans returns the tenant whose orphans the actor may see or decide on; "" is all of them.
func (a Actor) MayHandleOrphans(useCase string) (tenant string, err error) {
	if err := a.Authorize(useCase); err != nil || !a.Operates() {
		return a.Tenant, err
	}
	return "", nil
}
