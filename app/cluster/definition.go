package cluster

import (
	"maps"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/bake"
	"muster/app/plan"
	"muster/app/policy"
	"muster/app/providervalue"
	"muster/app/secret"
	"muster/app/template"
	"muster/app/volume"
)

// Definition is the catalog as it was when a cluster was asked for, as far as that cluster needs it. Later changes of
// the catalog do not reach a running cluster. Provider settings, which may be secret, are not part of it.
type Definition struct {
	Lease  *template.Lease `json:"lease,omitempty"` // the template's rules; nil of clusters from before they were kept
	Config map[string]any  `json:"config,omitempty"`
	// Overrides is what was asked for beside the template's own configuration; a null takes a key of that out. Nil of clusters from
	// before it was kept apart.
	Overrides map[string]any `json:"overrides,omitzero"`
	Links     []app.Link     `json:"links,omitempty"`
	// Outputs are the template's.
	Outputs []template.Output `json:"outputs,omitempty"`
	// Parameters are the values that were given; what the template set by default is in Config only.
	Parameters map[string]any `json:"parameters,omitempty"`
	Immutable  []string       `json:"immutable,omitempty"` // see Template
	// Template is the digest of the template that the cluster was made from; "" of clusters from before it was kept.
	Template string                       `json:"template,omitempty"`
	Services map[string]*template.Service `json:"services"`
	Hardware map[string]template.Flavor   `json:"hardware"`
	Images   map[string]template.Image    `json:"images"`
	// Stopped are the services that someone has stopped, by node; see IsStopped.
	Stopped map[string][]string      `json:"stopped,omitempty"`
	Hooks   []template.OperationHook `json:"hooks,omitempty"`   // the template's
	Health  *template.HealthPolicy   `json:"health,omitempty"`  // the template's; nil: no one looks
	Idle    *template.IdlePolicy     `json:"idle,omitempty"`    // the template's; nil: as the tenant says
	Actions []template.SavedAction   `json:"actions,omitempty"` // the template's
	Scaling *template.ScalingPolicy  `json:"scaling,omitempty"` // the template's; nil: no scaling
	// PartialResults is what the template wants where not all machines come; nil: what was asked for fails.
	PartialResults *template.PartialResults `json:"partial_results,omitempty"`
	// KeepFailed is for how long failed machines are kept for inspection, unless an operation's request says otherwise; "": they are deleted.
	KeepFailed template.KeepTime  `json:"keep_failed,omitempty"`
	Firewall   *template.Firewall `json:"firewall,omitempty"` // the template's; nil: whatever the account does by itself
	Batches    *template.Person   `json:"batches,omitempty"`  // the template's; nil: no one looks between batches
	// FallbackHardware lists, by hardware, what the machines of nodes may be made of instead, all of which are in Hardware.
	FallbackHardware map[string][]string `json:"fallback_hardware,omitempty"`
	// Baked is which nodes start from baked images, as the cluster was created.
	Baked *bake.Use `json:"baked,omitempty"`
}

// NewCluster is a cluster about to be accepted, with all that comes with it.
type NewCluster struct {
	Cluster    app.Cluster
	Definition Definition
	PublicKey  string
	PrivateKey []byte
	Nodes      []app.NewNode
	Operation  NewOperation
	Request    *NewRequest // that asked for it, where it is accepted at once; nil for none
	// Reservation is what it takes of quotas; where it names no tenant, it is worked out, with an owner who is in no groups.
	Reservation policy.Reservation
	// TenantCatalog is the revision of the tenant's own entries that it was worked out by. EConflict, reason plan_changed, where the provider's
	// entry has changed since.
	TenantCatalog int64
	Build         *app.BuildClaim // that it is for, nil for none
	Volumes       []volume.Claim  // kept ones that its nodes get
	Places        *PlaceAttempt   // nil: it may be in one place only
	// ProviderValues are what its users have set for the provider.
	ProviderValues providervalue.Kept
}

// NewOperation is an operation about to be accepted. When another one of the same cluster has not ended, it waits;
// Cancel asks that one to stop first.
type NewOperation struct {
	Operation app.Operation
	Plan      plan.Plan
	Cancel    bool
	// Change is what it makes of its cluster; nil for nothing but what its steps do.
	Change *Change
	// Follows is the cluster's latest operation when this one was planned; where another one has come since, or that one has
	// not ended, it is EConflict. 0 for no such condition.
	Follows int64
	// AsOf is, of an accepted partial result, when the operation it continues had ended as it was planned: EConflict where that has run again since.
	AsOf time.Time
	// Backfill says that Muster asks for it by itself, to have all nodes that were wanted.
	Backfill bool
	// Keep are failed machines that leave the cluster, to be kept for inspection, as it is accepted.
	Keep []KeptMachine
	// Volumes says whether the cluster's volumes are kept or deleted with their nodes, from now on; "" leaves it.
	Volumes template.VolumeChoice
	// LeaseOver accepts it only where the cluster's lease has ended by then, and tells people: someone may just have
	// moved the end.
	LeaseOver bool
	// Idle accepts it only where the cluster is idle still; nil for no such condition.
	Idle *IdleEnd
}

// IdleEnd is what an operation saves that ends the use of an idle cluster.
type IdleEnd struct{ PerHour float64 }

// KeptMachine is a failed machine that is kept for inspection: it leaves its cluster, and is in one of its own from then on. The cluster's key opens it.
type KeptMachine struct {
	NewCluster        // of its own
	HostKey    []byte // private, for the next machine of the node that it was
	// Frees says that the node gets no other machine in this operation, so that what it takes of quotas goes with the machine.
	Frees bool
}

// Secrets are the keys of a cluster.
type Secrets struct {
	PublicKey  string
	PrivateKey []byte
}

// HardwareFallback lets the machine of a node be of other hardware. It is not taken by operations that make no nodes, nor where a quota does not
// allow it, or where the node has other hardware by now; then the attempt ends as if there were none.
type HardwareFallback struct {
	From, To  string
	InsteadOf string  // the hardware that the layout chose; "" where To is that
	CPU       float64 // of To
	// More is by how much per hour, and MoreCPU by how many cores, the cluster grows; below 0 where it shrinks.
	More, MoreCPU float64
	// Retry is what happens to the attempt where it is taken, and Err how it ended; nil leaves it as it is.
	Retry app.Retry
	Err   *app.Error
}

// Override is what the update wants otherwise than the template has it.
func (m Update) Override() template.Override {
	o := template.Override{Config: m.Config}
	if m.Kind == app.OperationAddServices || m.Kind == app.OperationRemoveServices {
		o.Parts = append(o.Parts, "services")
	}
	if m.Hardware != "" {
		o.Parts = append(o.Parts, "hardware")
	}
	if m.Image != "" {
		o.Parts = append(o.Parts, "image")
	}
	return o
}

// OwnConfig are what people asked for beside the template's own configuration. Clusters from before it was kept apart are
// taken to have asked for all of it.
func (d Definition) OwnConfig() map[string]any {
	if d.Overrides != nil {
		return d.Overrides
	}
	return d.Config
}

func ValueAt(m map[string]any, keys []string) any {
	for _, k := range keys[:len(keys)-1] {
		m, _ = m[k].(map[string]any)
	}
	return m[keys[len(keys)-1]]
}

// IsStopped reports whether someone has stopped a service on a node, and no one has started it since.
func (d Definition) IsStopped(node, service string) bool {
	return slices.Contains(d.Stopped[node], service)
}

// redactedParameters returns the values that the parameters of the configuration have by now, by name, as people write them: those that
// were given, and else what the configuration says. Those that are nowhere said are left out. Of a template that the actor does not
// see, or that is gone, only what was given is known. What may be secret is HiddenValue.
func (d Definition) redactedParameters(t *template.Template) map[string]any {
	out := map[string]any{}
	if t == nil {
		for name, v := range d.Parameters {
			out[name] = v
		}
		return Concealed(out).(map[string]any)
	}
	for _, p := range t.Parameters {
		if !p.Configures() {
			continue
		}
		keys := template.KeysOf(t.Defaults.Config, strings.TrimPrefix(p.Targets()[0], "config."))
		v := d.Parameters[p.Name]
		if v == nil {
			v = p.Written(ValueAt(d.Config, keys))
		}
		switch {
		case v == nil:
		case secret.SecretKeyPattern.MatchString(keys[len(keys)-1]):
			out[p.Name] = secret.HiddenValue
		default:
			out[p.Name] = v
		}
	}
	return Concealed(out).(map[string]any)
}

// CheckImmutable is that of the template that the cluster was made from.
func (d Definition) CheckImmutable(o template.Override) error {
	return template.CheckImmutable("The cluster's template", d.Immutable, d.Config, o)
}

// override is what a request wants otherwise than the template.
func (r CreateRequest) override(t *template.Template) template.Override {
	o := template.Override{Config: r.Config}
	d := t.Defaults
	for part, different := range map[string]bool{
		"services":   len(r.Services) > 0 && !template.SameSet(r.Services, d.Services),
		"provider":   r.Provider != "" && r.Provider != d.Provider,
		"hardware":   r.Hardware != "" && r.Hardware != d.Hardware,
		"image":      r.Image != "" && r.Image != d.Image,
		"dns_suffix": r.DNSSuffix != "" && r.DNSSuffix != d.DNSSuffix,
		"lease":      r.Lease != nil && *r.Lease != t.Lease.Initial,
	} {
		if different {
			o.Parts = append(o.Parts, part)
		}
	}
	return o
}

// TakeFallbacks freezes what the machines of nodes may be made of instead, in place of what was frozen for the same hardware.
func (d *Definition) TakeFallbacks(c *template.Catalog, t *template.Template, provider string, nodes []template.Placed) {
	fallbacks := t.Fallbacks(c, provider, nodes)
	if len(fallbacks)+len(d.FallbackHardware) == 0 {
		return
	}
	d.Hardware, d.FallbackHardware = maps.Clone(d.Hardware), maps.Clone(d.FallbackHardware)
	if d.FallbackHardware == nil {
		d.FallbackHardware = map[string][]string{}
	}
	for _, n := range nodes {
		delete(d.FallbackHardware, n.Hardware)
	}
	for name, others := range fallbacks {
		d.FallbackHardware[name] = others
		for _, other := range others {
			d.Hardware[other] = c.Hardware[other].Providers[provider]
		}
	}
}

// NextOf returns the hardware to ask for after a node's own, of which there is none to be had, in order. It goes round: the last is what the
// layout chose, unless the node is of that. Nil where there is no other.
func (d Definition) NextOf(n app.Node) []string {
	asked := n.AskedHardware()
	others := d.FallbackHardware[asked]
	if len(others) == 0 {
		return nil
	}
	next := slices.Clone(others[slices.Index(others, n.Hardware)+1:])
	if n.Hardware != asked {
		next = append(next, asked)
	}
	return next
}

// Highest returns the flavor of some hardware with the price and the cores of the dearest and the largest that a machine may be instead.
func (d Definition) Highest(hardware string, fallbacks map[string][]string) template.Flavor {
	f := d.Hardware[hardware]
	for _, other := range fallbacks[hardware] {
		o := d.Hardware[other]
		f.CostPerHour, f.CPU = max(f.CostPerHour, o.CostPerHour), max(f.CPU, o.CPU)
	}
	return f
}
