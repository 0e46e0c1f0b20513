package place

import (
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/layout"
)

// ReasonTaken is the reason of an error that says that another server was faster.
const ReasonTaken = "place_taken"

// Run is a request with several places that is being tried.
type Run struct {
	Run       string // names it: the cluster of the first attempt
	Tenant    string
	Cluster   string // of the latest attempt
	Name      string // of the cluster
	Operation int64  // that is waited for: the create, or its rollback
	Kind      app.OperationKind
	Status    app.OperationStatus
	Deleted   bool // the cluster's machines are proven to be deleted
	Position  int
	Order     layout.PlaceOrder
	State     layout.PlacesState
	Choice    app.FailureChoice
	Payloads  []cluster.RequestPayload
}

// place is the place of a candidate, as its payload says.
func (r Run) place(i int) layout.Place {
	if i >= len(r.Payloads) {
		return layout.Place{}
	}
	q := r.Payloads[i]
	return layout.Place{Provider: q.Layout.Provider, Zone: q.Request.Zone, Hardware: q.Request.Hardware}
}

func (r Run) notice(at time.Time, of, owner, title, text string) *app.Notice {
	return &app.Notice{At: at, Tenant: r.Tenant, Kind: app.NoticeCluster, Cluster: of, Users: []string{owner},
		About: app.ClusterSubject(of), Title: title, Text: text}
}

// Move is a change of a run.
type Move struct {
	Run       string
	Tenant    string
	Cluster   string
	Operation int64 // that the run waited for: nothing is written where it waits for another one by now
	Position  int
	Place     layout.Place
	State     layout.PlacesState    // of the run, where that ends
	Message   string                // of the run
	Candidate layout.CandidateState // "" leaves it
	Reason    string
	// Choice is what is to happen by itself with the operation, now that no other place is tried.
	Choice app.FailureChoice
	Act    string // for the audit log; "" for none
	Event  *app.Event
	Notice *app.Notice
	Now    time.Time
}
