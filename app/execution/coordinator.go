package execution

import (
	"context"
	"io"
	"time"

	"muster/app"
	"muster/app/bake"
	"muster/app/family"
	"muster/app/health"
	"muster/app/template"
	"muster/app/volume"
)

// Most that one message between a worker and the server holds. The server refuses more with ETooLarge.
const (
	MaxClaims  = 256  // steps claimed or reported at once
	MaxHeld    = 8192 // fences in a heartbeat
	MaxLogs    = 2000 // lines at once
	MaxLogText = 8192 // bytes of a line
)

// Coordinator is the contract between workers and the server: in-process in the all-in-one binary, over HTTPS from other
// hosts. Messages hold many steps, so that a thousand steps cost a few. A worker works for one tenant and learns secrets
// only of the steps that it has claimed; a fence of another tenant's step is as good as an old one.
type Coordinator interface {
	// Claim takes up to most queued steps of the worker's tenant, the best first, marks them as running for the worker
	// until each assignment's Deadline, and hands back all that they need. Fewer, or none, and no error: there is no more
	// to do (queue messages were stale, or the tenant has as many running as it may).
	Claim(ctx context.Context, w app.WorkerID, most int) ([]*Assignment, error)
	// Heartbeat extends the claims that are still held. The answer says, fence by fence, what to do with them.
	Heartbeat(ctx context.Context, w app.WorkerID, held []app.Fence) ([]Directive, error)
	// Report ends attempts. The answer holds one entry for each report, in the same order. With WantNext it may hand back
	// the same node's next step, claimed. Reporting the same fence twice, or an old one, changes nothing and is EStale,
	// unless a next step was handed out in an answer that the worker may not have got: then it is handed out again. The
	// error is for when nothing of the message is known to have happened; the same message may then be sent again.
	Report(ctx context.Context, w app.WorkerID, reports []Report) ([]Reported, error)
	// Hosts returns the names that the node of a held step must be able to resolve: Assignment.Hosts, which does not travel
	// with every step of a big cluster. EStale where the fence does not hold.
	Hosts(ctx context.Context, w app.WorkerID, f app.Fence) ([]family.HostEntry, error)
	// Log appends lines. Lines with an old fence are dropped silently.
	Log(ctx context.Context, w app.WorkerID, lines []app.LogLine) error
}

// ResourceFetcher is the part of the contract by which contents of resources come to workers.
type ResourceFetcher interface {
	// FetchResource returns a content that a held step needs, from an offset on. Close it. EStale where the fence does not hold, ENotFound where
	// the step does not need it. The reader checks the hash of the whole.
	FetchResource(ctx context.Context, w app.WorkerID, f app.Fence, hash string, from int64) (io.ReadCloser, error)
	// HoldResources tells which contents the worker's host has of its tenant.
	HoldResources(ctx context.Context, w app.WorkerID, hashes []string) error
}

// Reported is the server's answer to one report.
type Reported struct {
	Next *Assignment `json:"next,omitempty"` // the node's next step, claimed
	Err  *app.Error  `json:"err,omitempty"`  // EStale, or why this one report could not be taken
}

// Directive is the server's answer to a heartbeat for one held step.
type Directive struct {
	Fence    app.Fence
	Deadline time.Time // the claim now runs until here, by the server's clock: ClaimFor after it was asked
	Cancel   bool      // stop the work and report ECancelled
	Lost     bool      // the claim is not yours any more: stop, report nothing
}

// Assignment is a claimed step with all that is needed to carry it out.
type Assignment struct {
	Fence  app.Fence
	Tenant string
	Worker string
	StepID string
	Epoch  int64 // greater than that of every claim before it on the same node: the node refuses what is older
	Tries  int   // attempts since the operation was last resumed, this one included; those that were Free left out
	// Age is how long ago the first of these attempts began. It bounds how long "again" can continue.
	Age      time.Duration
	Action   app.Action
	Service  string
	Node     app.Node
	Cluster  app.Cluster
	Deadline time.Time     // by the server's clock: the claim runs out unless a heartbeat extends it
	Timeout  time.Duration // the whole attempt may take this long

	Provider template.ProviderSpec // for machine actions
	Machine  family.MachineSpec    // for create; Machine.Intent and Tags are set for every machine action
	SSHKey   []byte                // the cluster's private key, OpenSSH PEM
	// Guarded says that the provider is a tenant's own, so that its machines are reached by SSH only where tenants may reach at all.
	Guarded bool `json:",omitempty"`
	// Unasked says of a create that no attempt before this one can have asked for the machine, so there is none to look for.
	Unasked bool

	// Replacements are, of a confirm, the machines on record that earlier attempts have created in place of one that did not come up, since the
	// operation was last resumed.
	Replacements []string `json:",omitempty"`

	// KeepFailed says of a confirm that a machine which doesn't come up is kept for inspection, and the node gets another; see ReasonKept.
	KeepFailed bool `json:",omitempty"`

	// CreateBatch is, of a create that is Unasked, what the operation has to make at the provider in all; nil where it is this machine alone.
	CreateBatch *CreateBatch `json:",omitempty"`

	// Baked is the image that the node's machine starts from, or, of a bake, that is made of it; nil for none.
	Baked *bake.Image `json:",omitempty"`
	// Installs are, of a bootstrap, those that a baked machine doesn't need, by service.
	Installs map[string]*template.ServiceAction `json:",omitempty"`

	// FromPool says of a create or confirm that the machine comes, or may come, from a pool; nil for one that does not.
	FromPool *FromPool `json:",omitempty"`

	// Volumes are those of the node, for the steps that create, attach, detach or give back what it has.
	Volumes []volume.ForStep `json:",omitempty"`
	// VolumesFirst says that the machine only has the volumes that it is created with.
	VolumesFirst bool `json:",omitempty"`

	Automators []string                // for bootstrap and names: those that the node's services use, sorted
	Call       *template.ServiceAction // with its resources pinned
	Compared   app.Action              `json:",omitempty"` // for compare: the action that Call is
	Health     *template.HealthCheck   // for check: the service's, expanded for this node
	Config     map[string]any          // expanded for this node
	// Secrets are the values of the tenant's secrets that stand in what was handed out: nothing that the step says may hold one.
	Secrets []string `json:",omitempty"`
	// Hosts are names that the node must be able to resolve. Where they are nil although HostsHash is set, the step comes
	// from another host, and the worker asks for those of a hash that it does not know yet.
	Hosts     []family.HostEntry `json:"-"`
	HostsHash string
	// HostsWhole says that Hosts are all that the node is to know. Else they are added to those that it knows.
	HostsWhole bool `json:",omitempty"`
	// Trace is the traceparent of the request that the operation comes from; "" for none.
	Trace string `json:",omitempty"`
}

// FromPool is what a worker has to know to take a machine over that was made for a pool, or was kept for inspection.
type FromPool struct {
	Pool string // "" for one that was kept
	// Key is the private key (OpenSSH PEM) that opened the machine in the pool; of a confirm, which sees to it that it does not any more.
	Key []byte `json:",omitempty"`
}

// Words say where the machine comes from, such as pool base.
func (f FromPool) Words() string {
	if f.Pool == "" {
		return "those kept for inspection"
	}
	return "pool " + f.Pool
}

// Report is the end of one attempt. Err nil means success. The node fields are applied on success only.
type Report struct {
	Fence    app.Fence
	Action   app.Action
	WantNext bool
	Err      *app.Error
	Retry    app.Retry       // what to do about Err, decided by jobs/retry.go
	Machine  *family.Machine // create, confirm: what the provider said
	HostKey  string          // confirm: the key that the machine proved itself with, when it was pinned at first contact
	Seen     []app.Seen      // what was come across at the provider, also where Err is set
	Unasked  bool            // of a create that failed: the provider was not asked to make anything
	// Pooled says that the machine was ready in a pool: how long it took says nothing about other machines.
	Pooled bool `json:",omitempty"`
	// Contract is what a bootstrap or a names step found out about the node, also where Err is set; nil where it did not come so far.
	Contract *health.NodeReport
	// Facts are what a service action reported, once it has succeeded; see ServiceCall.Tell.
	Facts map[string]string `json:",omitempty"`
	// Changes are what a comparison found.
	Changes *family.Changes `json:",omitempty"`
	// Exit is the exit code of a command that a person runs, whatever it is; nil where it did not come so far.
	Exit *int `json:",omitempty"`
	// Cut says that lines of a command's output were left out.
	Cut bool `json:",omitempty"`
	// Volumes are what was found out about the node's volumes, also where Err is set.
	Volumes []volume.Seen `json:",omitempty"`
	// Image is the baked image that a bake has made, or that a create has started its machine from, or tried to.
	Image *ImageReport `json:",omitempty"`
}

// ImageReport names a baked image as its provider does.
type ImageReport struct {
	Image string
	Gone  bool // no machine could be started from it
}

// WorkerPrefix begins the names of all workers of a registration, and of no others.
func WorkerPrefix(provisioner string) string { return provisioner + ":" }

// WorkWaiter is a Coordinator that tells a worker when there is work, for workers that hear no queue messages.
type WorkWaiter interface {
	// AwaitWork returns true as soon as a step that the worker may take has been queued for longer than patience, and false
	// when there was none until the context ended or a time of the server's own was over.
	AwaitWork(ctx context.Context, w app.WorkerID, patience time.Duration) (bool, error)
}

// ErrReplaced tells a provisioner, or a worker of it, that its registration has ended.
var ErrReplaced = &app.Error{Code: app.EStale, Reason: "replaced", Message: "This provisioner stopped sending heartbeats, so its work was assigned to others.",
	Hint: "It re-registers automatically."}

// ErrWorkerToken does not say what is wrong: forged, over, or of a registration that was revoked.
var ErrWorkerToken = &app.Error{Code: app.EUnauthorized, Reason: "worker_token", Message: "This worker token is invalid or has expired.",
	Hint: "The provisioner receives a new one with each heartbeat."}
