package app

import (
	"context"
	"time"
)

// Provider is one account with one kind of cloud. Members stay thin: they return what the cloud said, with an *Error
// carrying one of ECredentials, ECapacity, EQuota, ERateLimit, ETransient, ETimeout, ENotFound, EInvalid. All methods
// may be called at the same time from several goroutines and obey ctx.
type Provider interface {
	// Create makes one machine for spec.Intent, or returns the one that an earlier call with the same intent made.
	// It returns as soon as the machine exists; it need not answer yet. After an error the machine may or may not
	// exist: List by tag tells.
	Create(ctx context.Context, spec MachineSpec) (Machine, error)
	// Describe gives the machine as it is now; ENotFound where it does not exist (any more).
	Describe(ctx context.Context, id string) (Machine, error)
	// List gives every machine that carries all of the tags; none is an empty list and no error.
	List(ctx context.Context, tags map[string]string) ([]Machine, error)
	// Delete removes the machine with all that was made for it, and returns when it is gone or sure to go. An absent
	// machine is success.
	Delete(ctx context.Context, id string) error
}

// Sleeper is a Provider whose machines can be stopped and started again, with their files, host key and id. Without it,
// clusters of it cannot be put to sleep. Both verbs may be called again at any time: what is so already is success. A machine that
// is not there is ENotFound; one that cannot be stopped without losing what is on it is EInvalid.
type Sleeper interface {
	// Sleep stops the machine, and returns when it is stopped or sure to stop.
	Sleep(ctx context.Context, id string) error
	// Wake starts the machine. It returns as soon as the machine is starting; it need not answer yet, and its addresses may be
	// others than before.
	Wake(ctx context.Context, id string) error
}

// Adopter is a Provider that can give a machine that stands to another node, as where it comes from a pool. Without it, a machine keeps its tags; what
// it is found by is the intent, which stays the same in any case.
type Adopter interface {
	// Adopt has the machine carry spec's tags and host name from now on, as far as the provider keeps them; the intent among the tags is the machine's own. Where
	// the provider itself, and not a file of the machine, says who is let in, it is the holder of spec's AuthorizedKey alone. Doing it again changes
	// nothing. A machine that is not there is ENotFound.
	Adopt(ctx context.Context, id string, spec MachineSpec) error
}

// ProviderCloser is a Provider that holds something to let go of when the process ends. Machines stay.
type ProviderCloser interface {
	Close() error
}

// LateLister is a Provider whose List may lack a machine that was just made, or still show one that was just deleted.
// Without it, lists are taken to be true at once. Who draws a conclusion from a machine that is missing looks twice, so
// long apart.
type LateLister interface {
	// ListsLate gives how long a list may lag behind; at most a minute is waited for.
	ListsLate() time.Duration
}

// ListsLate gives how long lists of a provider may lag behind, at most a minute; 0 where they do not.
func ListsLate(p Provider) time.Duration {
	if l, ok := p.(LateLister); ok {
		return min(max(l.ListsLate(), 0), time.Minute)
	}
	return 0
}

// Tags that every machine carries. Machines without our TagInstallation are never touched.
const (
	TagInstallation = "muster-installation"
	TagTenant       = "muster-tenant"
	TagCluster      = "muster-cluster"
	TagNode         = "muster-node"
	TagIntent       = "muster-intent"
)

// MachineSpec is the machine that is wanted.
type MachineSpec struct {
	Intent   string            // one per machine ever wanted; the key of idempotency
	Hostname string            // full name
	Flavor   Flavor            // the provider's hardware
	Image    Image             // the provider's image
	Tags     map[string]string // at least the five tags above
	Zone     string            // the part of the cloud, by its own name; "" leaves it to the provider
	// HostKey is the private host key (OpenSSH PEM) that the machine shall prove itself with. Providers that cannot
	// hand it over leave Machine.HostKey empty, and the key is pinned at first contact.
	HostKey []byte
	// AuthorizedKey lets Muster in: one line in authorized_keys form.
	AuthorizedKey string
}

// MachineState is the state of a machine in one word.
type MachineState string

// The states of a machine.
const (
	MachineStarting MachineState = "starting"
	MachineRunning  MachineState = "running"
	MachineStopped  MachineState = "stopped" // exists, but does not run: lost unless someone starts it
)

// Machine is what a provider knows of a machine.
type Machine struct {
	ID        string
	State     MachineState
	Hostname  string
	Addresses map[string]string // by kind: access_v4, bind_v4; absent until known
	SSHUser   string
	SSHPort   int // 0 means 22
	Tags      map[string]string
	HostKey   string    // authorized_keys form of the host key that it was given, "" where it could not be given
	OwnRoot   bool      // it has a file system of its own, so /etc/hosts there is only its own
	Note      string    // for people: what kind of machine this is, such as "namespaces + OpenSSH"
	Zone      string    // where it is, "" where the cloud has no zones or does not say
	MadeAt    time.Time `json:"MadeAt,omitzero"` // by the cloud's own clock; zero where it does not say
}

// Descriptor describes a member of a family: its fields make forms, prompts and validation.
type Descriptor struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Fields      []Field `json:"fields"`
	Sleeps      bool    `json:"sleeps,omitempty"` // its machines can be stopped and started again; see Sleeper
}

// Field is one setting of a family member.
type Field struct {
	Name     string   `json:"name"`
	Label    string   `json:"label"`
	Help     string   `json:"help,omitempty"`
	Required bool     `json:"required,omitempty"`
	Secret   bool     `json:"secret,omitempty"`
	Default  string   `json:"default,omitempty"`
	Options  []string `json:"options,omitempty"`
}
