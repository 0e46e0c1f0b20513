package template

import "strconv"

// ResourceFormat says what a worker makes of a resource on a node.
type ResourceFormat string

// ResourceType is a type of resource that a member of a family declares in its descriptor.
type ResourceType struct {
	Name   string         `json:"name"`
	Label  string         `json:"label,omitempty"`
	Help   string         `json:"help,omitempty"`
	Format ResourceFormat `json:"format"`
	// Mode are the permission bits of a file on nodes; 0 means 0644. Those of an archive are its own.
	Mode int `json:"mode,omitempty"`
	// Common says that an action which names no resource at all has all of the tenant's of this type that are in use. Where two types have one of the
	// same name, that of
	// the type which is declared first counts.
	Common bool `json:"common,omitempty"`
}

// ResourceRef is how a service action names a resource of its automator. Once a plan is made, it is pinned: from then on
// the cluster has just that content, whatever becomes of the resource.
type ResourceRef struct {
	Type    string `json:"type,omitempty"`    // "": the one type that has the name
	Name    string `json:"name"`              //
	Version int64  `json:"version,omitempty"` // 0: the active one
	// Once pinned:
	Hash   string         `json:"hash,omitempty"`
	Size   int64          `json:"size,omitempty"`
	Format ResourceFormat `json:"format,omitempty"`
	Mode   int            `json:"mode,omitempty"`
	// Common tells that the action did not name it, but has it as all that name none do: see ResourceType.Common.
	Common bool `json:"common,omitempty"`
	// Trusted is ResourceSource.Trusted of the version.
	Trusted bool `json:"trusted,omitempty"`
}

// String writes it as catalogs do: [type/]name[@version].
func (r ResourceRef) String() string {
	s := r.Name
	if r.Type != "" {
		s = r.Type + "/" + s
	}
	if r.Version > 0 {
		s += "@" + strconv.FormatInt(r.Version, 10)
	}
	return s
}
