package template

import (
	"fmt"
	"time"

	"muster/app"
)

// Catalog is all that an admin has published: what may exist, and from what clusters are made. The maps are keyed by
// name. A Catalog is not changed after it was read; share it freely.
type Catalog struct {
	Providers map[string]*ProviderSpec
	Hardware  map[string]*HardwareType
	Images    map[string]*ImageType
	Services  map[string]*Service
	Templates map[string]*Template // made whole of all that they extend and include; without those that are only parts
	// Written are the templates as they stand in files, parts among them.
	Written map[string]*Template
	// Currency is that of all prices, by ISO 4217; "" while each is still in the currency of its provider. See InCurrency.
	Currency string
}

// NewCatalog returns an empty catalog whose maps can be written to.
func NewCatalog() *Catalog {
	return &Catalog{
		Providers: map[string]*ProviderSpec{},
		Hardware:  map[string]*HardwareType{},
		Images:    map[string]*ImageType{},
		Services:  map[string]*Service{},
		Templates: map[string]*Template{},
		Written:   map[string]*Template{},
	}
}

// About is what every catalog entry carries for people: Label, Description and Icon are shown, Origin says where the
// entry was written.
type About struct {
	Name        string `json:"name"`
	Label       string `json:"label,omitempty"`
	Description string `json:"description,omitempty"`
	Icon        string `json:"icon,omitempty"`
	Origin      Origin `json:"-"`
	// Lines says on which lines of Origin.File parts of the entry are written, by their path in our own form, such as
	// constraints.services.db.min or constraints.must_coexist[0]. Parts that no one has to be pointed at are absent.
	Lines map[string]int `json:"-"`
	// Taken says of the parts that come from other entries, by the same paths, where they are written.
	Taken map[string]Origin `json:"-"`
	// From names the entries that they come from, by the same paths.
	From map[string]string `json:"-"`
	// Untrusted entries are a tenant's own, saved by someone who is no superadmin: nothing of them may run on
	// Muster's own hosts. Of a template it counts for all that it is made of.
	Untrusted bool `json:"-"`
}

// At is where a part of the entry is written: the first of some paths of which that is known, else where the entry begins.
func (a About) At(paths ...string) Origin {
	for _, path := range paths {
		if from, ok := a.Taken[path]; ok {
			return from
		}
		if line := a.Lines[path]; line > 0 {
			return Origin{File: a.Origin.File, Line: line}
		}
	}
	return a.Origin
}

// Title is the label, or the name where there is no label.
func (a About) Title() string {
	if a.Label != "" {
		return a.Label
	}
	return a.Name
}

// Origin is a place in a catalog file. Line counts from 1; 0 means that the line is not known.
type Origin struct {
	File string
	Line int
}

// String returns "file:line", "file", or "" where all is unknown.
func (o Origin) String() string {
	if o.Line == 0 {
		return o.File
	}
	return fmt.Sprintf("%s:%d", o.File, o.Line)
}

// ProviderSpec is a named account with a kind of cloud. Type names a member of the providers family; Settings are the
// fields that its descriptor declares.
type ProviderSpec struct {
	About
	Type     string         `json:"type"`
	Zones    []string       `json:"zones,omitempty"`
	Rate     Rate           `json:"rate,omitzero"` // calls from all of Muster together; zero: what is usual for the type
	Settings map[string]any `json:"-"`             // may hold secrets: never printed
	// Provisioner are tags that a provisioner must have to carry out this provider's steps, such as a network that only
	// some hosts reach.
	Provisioner map[string]string `json:"provisioner,omitempty"`
	// Tenant is whose own it is; "" is the installation's.
	Tenant string `json:"tenant,omitempty"`
	// Currency is that of the account's prices, by ISO 4217; "" is the installation's. ExchangeRate is what one unit of it is worth in the
	// installation's currency; 0 where that is the same.
	Currency     string  `json:"currency,omitempty"`
	ExchangeRate float64 `json:"exchange_rate,omitempty"`
	// VolumeCost is the price of a GB of a volume for a month of 730 hours; 0 where unknown.
	VolumeCost float64 `json:"volume_cost_per_gb_month,omitempty"`
	// SnapshotCost is the same for a snapshot of a volume, by the volume's size.
	SnapshotCost float64 `json:"snapshot_cost_per_gb_month,omitempty"`
	// Fields are the settings that users may set for a cluster of theirs.
	Fields []ProviderField `json:"fields,omitempty"`
	// Own says what a cluster's users have set; nil of the provider itself.
	Own *ProviderOwn `json:"own,omitempty"`
}

// HardwareType is a size of machine, with what each provider (by name of the ProviderSpec) calls it.
type HardwareType struct {
	About
	Providers map[string]Flavor `json:"providers"`
}

// Flavor is one provider's machine size. CostPerHour is in the currency of the catalog or, where that has
// none yet, of the provider; 0 where unknown. CPU counts virtual
// cores, MemoryGB and DiskGB are in GiB; 0 means unknown. GPUs is how many whole GPUs or other accelerators the machine has, 0 means
// none, and GPU what kind they are, by the name that the provider has for it. Extra keeps what else the entry said.
type Flavor struct {
	Flavor      string  `json:"flavor"`
	CostPerHour float64 `json:"cost_per_hour,omitempty"`
	// AsleepCostPerHour is the price while the machine is stopped; nil where it is the same.
	AsleepCostPerHour *float64          `json:"asleep_cost_per_hour,omitempty"`
	CPU               float64           `json:"cpu,omitempty"`
	MemoryGB          float64           `json:"memory_gb,omitempty"`
	DiskGB            float64           `json:"disk_gb,omitempty"`
	GPUs              int               `json:"gpus,omitempty"`
	GPU               string            `json:"gpu,omitempty"`
	Extra             map[string]string `json:"extra,omitempty"`
}

// ImageType is an operating system, with what each provider (by name of the ProviderSpec) calls it.
type ImageType struct {
	About
	Providers map[string]Image `json:"providers"`
}

// Image is one provider's machine image and the user that it lets in over SSH ("" means root).
type Image struct {
	Image   string            `json:"image"`
	SSHUser string            `json:"ssh_user,omitempty"`
	Extra   map[string]string `json:"extra,omitempty"`
}

// Service is software that can be placed on nodes, with what it depends on and how each action is carried out.
type Service struct {
	About
	Provides  []string                      `json:"provides,omitempty"`
	Conflicts []string                      `json:"conflicts,omitempty"`
	Install   Dependencies                  `json:"install"`
	Runtime   Dependencies                  `json:"runtime"`
	Actions   map[app.Action]*ServiceAction `json:"actions,omitempty"`
	Links     []app.Link                    `json:"links,omitempty"`
	Needs     Requirements                  `json:"needs,omitzero"`
	// Health tells how to see whether the service works; nil: its start is all that is known.
	Health *HealthCheck `json:"health,omitempty"`
	// Reads are the keys of the configuration, at its top, that the service is set up by. Where it is empty, they are all
	// but those that have the name of another service.
	Reads []string `json:"reads,omitempty"`
	// Volumes are disks that outlive the machines of its nodes; see VolumesOf.
	Volumes []Volume `json:"volumes,omitempty"`
}

// HealthCheck is one way to see, on a node that has the service, whether it works: a command that ends with 0, a TCP port that
// takes a connection, or an HTTP answer. Just one of Command, TCP and HTTP is set. Macros in them are expanded for the node.
type HealthCheck struct {
	Command string      `json:"command,omitempty"`
	TCP     string      `json:"tcp,omitempty"` // port, or host:port; without a host, the node's own bind address
	HTTP    *HTTPHealth `json:"http,omitempty"`
	// Timeout of one check; 0 means 5 s.
	Timeout time.Duration `json:"timeout,omitempty"`
	// Wait is how long a service may take after its start until it is healthy; 0 means 60 s.
	Wait time.Duration `json:"wait,omitempty"`
	// Failures in a row that make the service count as unhealthy; 0 means 3.
	Failures int `json:"failures,omitempty"`
}

// HTTPHealth is a GET request that the node makes of itself.
type HTTPHealth struct {
	Port   string `json:"port"`
	Path   string `json:"path,omitempty"`   // "" means /
	Status int    `json:"status,omitempty"` // 0 means any from 200 to 399
}

// Requirements are what a service takes of its node. All services of a node together may not take more than its hardware
// offers; what a hardware type does not state is not limited, but for GPUs, of which it then has none. GPUs are whole: no two services
// share one.
type Requirements struct {
	CPU      float64 `json:"cpu,omitempty"`
	MemoryGB float64 `json:"memory_gb,omitempty"`
	DiskGB   float64 `json:"disk_gb,omitempty"`
	GPUs     int     `json:"gpus,omitempty"`
}

// MaxGPUs is the most of them that one machine can have.
const MaxGPUs = 64

// Dependencies of one phase. Requires must be on the cluster, by name or through another service's Provides; Uses
// order the work only where present.
type Dependencies struct {
	Requires []string `json:"requires,omitempty"`
	Uses     []string `json:"uses,omitempty"`
}

// ServiceAction tells an automator how to carry out one action. Timeout 0 means the automator's default.
type ServiceAction struct {
	Automator string            `json:"automator"`
	Fields    map[string]string `json:"fields,omitempty"`
	Timeout   time.Duration     `json:"timeout,omitempty"`
	// Resources are what the action finds on the node beside its fields; pinned in a cluster's definition.
	Resources []ResourceRef `json:"resources,omitempty"`
	// Person is who carries it out instead; Automator is "" then.
	Person *Person `json:"person,omitempty"`
}

// AsleepCost is the price per hour of a machine that is stopped.
func (f Flavor) AsleepCost() float64 {
	if f.AsleepCostPerHour != nil {
		return *f.AsleepCostPerHour
	}
	return f.CostPerHour
}

// ServiceActions are the actions that a service may define, in the order of a create, then those that undo.
var ServiceActions = []app.Action{app.ActionInstall, app.ActionConfigure, app.ActionInitialize, app.ActionStart, app.ActionReload, app.ActionStop, app.ActionRemove}
