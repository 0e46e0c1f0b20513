package app

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ClusterStatus is the state of a cluster in one word.
type ClusterStatus string

// The states of a cluster. A failed cluster always has a way forward: resume or delete.
const (
	ClusterPending ClusterStatus = "pending" // an operation is waiting or running
	ClusterActive  ClusterStatus = "active"  // running as requested
	ClusterAsleep  ClusterStatus = "asleep"  // its machines are stopped, with all that is on them, until it is woken
	ClusterFailed  ClusterStatus = "failed"  // the last operation did not end well
	ClusterDeleted ClusterStatus = "deleted" // every machine is gone, proven with the provider
)

// Cluster is what a user asked for, and gets. ID is unique in the installation and part of every host name.
type Cluster struct {
	ID          string         `json:"id"`
	Tenant      string         `json:"tenant"`
	Name        string         `json:"name"`
	Owner       string         `json:"owner"`
	Template    string         `json:"template"`
	Provider    string         `json:"provider"`
	Size        int            `json:"size"`
	Services    []string       `json:"services"`
	Status      ClusterStatus  `json:"status"`
	Message     string         `json:"message,omitempty"`
	CostPerHour float64        `json:"cost_per_hour"`
	Currency    string         `json:"currency,omitempty"` // of the price, by ISO 4217; set where people read it
	Config      map[string]any `json:"-"`
	DNSSuffix   string         `json:"dns_suffix"`
	Links       []Link         `json:"-"` // unexpanded
	CreatedAt   time.Time      `json:"created_at"`
	ExpiresAt   time.Time      `json:"expires_at,omitzero"` // zero: never
	DeletedAt   time.Time      `json:"deleted_at,omitzero"`
	// Pool is the number of the pool whose machine it is; 0 for an ordinary cluster. No list shows such a cluster, and no one changes it.
	Pool int64 `json:"-"`
	// KeptFrom is the cluster that a failed machine was in which is kept for inspection, KeptNode the node that it was, and KeptReason what failed. Such a
	// cluster has this machine only, and no one changes it. "" for an ordinary cluster.
	KeptFrom   string `json:"kept_from,omitempty"`
	KeptNode   string `json:"kept_node,omitempty"`
	KeptReason string `json:"kept_reason,omitempty"`

	// Description is for people; Labels are what clusters are found and counted by, and what their machines carry as tags. See app/label.
	Description string            `json:"description,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`

	Visibility Visibility `json:"visibility"`
	OwnerGroup string     `json:"owner_group,omitempty"`
	// Access is what the one who asked may do with it; AccessNone where it was not read for a person.
	Access Access `json:"access,omitempty"`
	// AccessUntil is when that access ends; zero where it doesn't.
	AccessUntil time.Time `json:"access_until,omitzero"`
	// Lock keeps everyone but admins from it; nil where it isn't locked.
	Lock *Lock `json:"lock,omitempty"`
}

// NodeStatus is the state of a node in one word.
type NodeStatus string

// The states of a node.
const (
	NodePlanned NodeStatus = "planned" // nothing was asked of the provider yet
	NodeCreated NodeStatus = "created" // the machine exists
	NodeReady   NodeStatus = "ready"   // it answers and has proved who it is
	NodeDeleted NodeStatus = "deleted" // the provider was asked and has it no more
)

// Node is one machine of a cluster, from before it exists until after it is gone.
type Node struct {
	Cluster   string            `json:"cluster"`
	Name      string            `json:"name"` // n1, n2, …
	Hostname  string            `json:"hostname"`
	Hardware  string            `json:"hardware"`
	Image     string            `json:"image"`
	Zone      string            `json:"zone,omitempty"` // that the layout chose; "" leaves it to the provider
	Services  []string          `json:"services"`
	Stopped   []string          `json:"stopped,omitempty"` // of the services, those that someone has stopped; in a ClusterView only
	Status    NodeStatus        `json:"status"`
	MachineID string            `json:"machine_id,omitempty"` // the provider's own id
	Addresses map[string]string `json:"addresses,omitempty"`  // by kind: access_v4, bind_v4
	SSHUser   string            `json:"ssh_user,omitempty"`
	SSHPort   int               `json:"ssh_port,omitempty"`
	HostKey   string            `json:"host_key,omitempty"` // authorized_keys form of the machine's public host key
	OwnRoot   bool              `json:"own_root"`           // the machine has a file system of its own
	Leaving   bool              `json:"leaving,omitempty"`  // it is being given back, and counts no more
	Pool      string            `json:"pool,omitempty"`     // from which the machine came
	// InsteadOf is the hardware that the layout chose, where none of it was to be had and the machine is, or is asked to be, of other.
	InsteadOf string `json:"instead_of,omitempty"`
	// LostAt is since when its provider doesn't have the machine any more, or has it without running it; zero: as far as is known it runs.
	LostAt time.Time `json:"lost_at,omitzero"`
	// LeavesAt is when its provider takes the machine away, as it has announced, such as for a spot machine; zero: nothing is announced.
	LeavesAt time.Time `json:"leaves_at,omitzero"`
	// Lock keeps everyone but admins from signing in to it; nil where it isn't locked. It stays when the machine is replaced.
	Lock *Lock `json:"lock,omitempty"`
	// TakenFrom is the cluster by whose key the machine may still be opened; "" where there is none.
	TakenFrom string `json:"-"`

	// answers are what people have typed, by service and field, as far as the configuration names them; only while it is
	// expanded for a step.
	Answers map[string]map[string]AnswerValue `json:"-"`
	// facts are what services reported, in the same way.
	Facts map[FactName]string `json:"-"`
}

// Lost reports whether the node's machine is gone, as far as is known.
func (n Node) Lost() bool { return !n.LostAt.IsZero() && n.Status != NodeDeleted }

// Interrupted reports whether the node's machine still runs, and its provider has announced that it takes it away.
func (n Node) Interrupted() bool {
	return !n.LeavesAt.IsZero() && n.Status == NodeReady && !n.Lost() && !n.Leaving
}

// InterruptionWords say for people when that is; "" where nothing is announced.
func (n Node) InterruptionWords() string {
	if !n.Interrupted() {
		return ""
	}
	return fmt.Sprintf("%s's machine will be interrupted at %s.", n.Name, n.LeavesAt.UTC().Format("15:04 UTC"))
}

// State is a word for how the node is: lost where its machine is gone, or else its status.
func (n Node) State() string {
	if n.Lost() {
		return "lost"
	}
	return string(n.Status)
}

// Counting returns those of the nodes that configurations speak of: none that leaves. While the whole cluster is deleted, those that
// are gone already count, so that what is stopped last still finds its configuration as it was.
func Counting(nodes []Node) []Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(n Node) bool { return n.Leaving })
}

// Kinds of address. Access is where people and Muster reach a machine, bind is where its services listen.
const (
	AddressAccess = "access_v4"
	AddressBind   = "bind_v4"
)

// Address returns the address of a kind, falling back to the other kind; "" where none is known.
func (n Node) Address(kind string) string {
	if a := n.Addresses[kind]; a != "" {
		return a
	}
	switch kind {
	case AddressAccess:
		return n.Addresses[AddressBind]
	case AddressBind:
		return n.Addresses[AddressAccess]
	}
	return ""
}

// NodeName is the name of the i-th node of a cluster, counted from 1.
func NodeName(i int) string { return "n" + strconv.Itoa(i) }

// NodeNumber is the inverse of NodeName; 0 for anything else.
func NodeNumber(name string) int {
	if len(name) < 2 || name[0] != 'n' {
		return 0
	}
	i, err := strconv.Atoi(name[1:])
	if err != nil || i < 1 {
		return 0
	}
	return i
}

// Link is a URL shown on the cluster's page; macros in URL are expanded when it is read.
type Link struct {
	Label string `json:"label"`
	URL   string `json:"url"`
}

// ValueChange is one value that changes. Before or After is "" where there is none.
type ValueChange struct {
	Path   string `json:"path"` // "config.nginx.port", "services.haproxy.start"
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// AnswerValue is one value, as it is put into texts.
type AnswerValue struct {
	Text   string `json:"text"`
	Secret bool   `json:"secret,omitempty"`
}

// FactPattern is how facts are named: as parameters are, so that macros can speak of them.
var FactPattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// SecretFact tells by its name whether a fact is one that is never shown.
func SecretFact(name string) bool {
	for _, end := range []string{"secret", "token", "password", "key", "cookie", "kubeconfig"} {
		if name == end || strings.HasSuffix(name, "_"+end) {
			return true
		}
	}
	return false
}

// FactName names a fact that a service may have reported.
type FactName struct{ Service, Name string }
