package layout

// HostPool is the existing hosts of a provider that creates no machines. Nodes run on these only.
type HostPool struct {
	Provider string `json:"provider"`
	Hosts    []Host `json:"hosts"` // each name once
}

// Host is an existing machine that can take nodes. All nodes on it are of its hardware type. A node takes of it what
// that type offers, and where the type does not say, what the services of the node need.
type Host struct {
	Name     string       `json:"name"`
	Hardware string       `json:"hardware"`
	Zone     string       `json:"zone,omitempty"`
	Nodes    int          `json:"nodes"` // how many more it can take
	Free     HostFree     `json:"free,omitzero"`
	Has      []HostedNode `json:"has,omitempty"`
}

// HostFree is what a host has left for nodes; nil is not limited.
type HostFree struct {
	CPU      *float64 `json:"cpu,omitempty"`
	MemoryGB *float64 `json:"memory_gb,omitempty"`
	DiskGB   *float64 `json:"disk_gb,omitempty"`
}

// HostedNode is a node of another cluster, or several nodes of one, on a host. Alone says that it shares the host with no
// other cluster, Apart with which services of others it does not share it.
type HostedNode struct {
	Cluster  string   `json:"cluster"`
	Services []string `json:"services"`
	Alone    bool     `json:"alone,omitempty"`
	Apart    []string `json:"apart,omitempty"`
}
