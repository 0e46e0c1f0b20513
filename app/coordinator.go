package app

import (
	"context"
	"time"
)

// Coordinator is the contract between workers and the server: in-process in the all-in-one binary. A worker works for
// one tenant and learns secrets only of the step that it has claimed.
type Coordinator interface {
	// Claim takes the ready step of the tenant with the greatest rank, marks it as running for worker until the
	// assignment's Deadline, and hands back all that it needs. Nil and no error: there is nothing to do (the bell was
	// stale).
	Claim(ctx context.Context, tenant, worker string) (*Assignment, error)
	// Heartbeat extends the claims that are still held. The answer says, fence by fence, what to do with them.
	Heartbeat(ctx context.Context, worker string, held []Fence) ([]Directive, error)
	// Report ends an attempt. With WantNext it may hand back the same node's next step, claimed. Reporting the same
	// fence twice, or an old one, changes nothing and is EStale, unless a next step was handed out in an answer that the
	// worker may not have got: then it is handed out again.
	Report(ctx context.Context, r Report) (next *Assignment, err error)
	// Log appends lines. Lines with an old fence are dropped silently.
	Log(ctx context.Context, lines []LogLine) error
}

// Directive is the server's answer to a heartbeat for one held step.
type Directive struct {
	Fence    Fence
	Deadline time.Time // the claim now runs until here, by the server's clock: ClaimFor after it was asked
	Cancel   bool      // stop the work and report ECancelled
	Lost     bool      // the claim is not yours any more: stop, report nothing
}

// Assignment is a claimed step with all that is needed to carry it out.
type Assignment struct {
	Fence    Fence
	Tenant   string
	Worker   string
	StepID   string
	Tries    int // attempts since the operation was last resumed, this one included
	Action   Action
	Service  string
	Node     Node
	Cluster  Cluster
	Deadline time.Time     // by the server's clock: the claim runs out unless a heartbeat extends it
	Timeout  time.Duration // the whole attempt may take this long

	Provider ProviderSpec // for machine actions
	Machine  MachineSpec  // for create; Machine.Intent and Tags are set for every machine action
	SSHKey   []byte       // the cluster's private key, OpenSSH PEM

	Automators []string // for bootstrap: those that the node's services use, sorted
	Call       *ServiceAction
	Config     map[string]any // expanded for this node
	Hosts      []HostEntry    // names that the node must be able to resolve
}

// HostEntry is one line of a hosts file.
type HostEntry struct {
	Address string
	Names   []string
}

// Report is the end of one attempt. Err nil means success. The node fields are applied on success only.
type Report struct {
	Fence    Fence
	Worker   string
	Action   Action
	WantNext bool
	Err      *Error
	Retry    Retry    // what to do about Err, decided by jobs/retry.go
	Machine  *Machine // create, confirm: what the provider said
	HostKey  string   // confirm: the key that the machine proved itself with, when it was pinned at first contact
}

// Retry says what shall become of a failed attempt.
type Retry struct {
	Again bool
	After time.Duration
}
