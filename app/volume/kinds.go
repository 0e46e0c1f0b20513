package volume

import (
	"fmt"
	"slices"

	"muster/app"
	"muster/app/plan"
	"muster/app/template"
)

// Kinds tells what types of providers do about volumes. Functions that are nil: not known, the steps will tell.
type Kinds struct {
	Makes, Snapshots func(kind string) bool
	// AtCreation reports whether machines only have the volumes that they are created with.
	AtCreation func(kind string) bool
}

// Check refuses planned volumes that a provider can't make, and notes which of them are made before their machine.
func (k Kinds) Check(spec *template.ProviderSpec, planned []Planned) error {
	if spec == nil || len(planned) == 0 {
		return nil
	}
	for i := range planned {
		planned[i].First = k.First(spec.Type)
	}
	if k.Makes != nil && !k.Makes(spec.Type) {
		return &app.Error{Code: app.EInvalid, Reason: "no_volumes", Field: "provider",
			Message: fmt.Sprintf("Service %s needs volumes, and provider %s doesn't make any.", planned[0].Service, spec.Name),
			Hint:    "Choose a provider whose type makes volumes, or services that need none."}
	}
	i := slices.IndexFunc(planned, func(p Planned) bool { return p.Snapshots != template.Snapshots{} })
	if i < 0 || k.Snapshots == nil || k.Snapshots(spec.Type) {
		return nil
	}
	p := planned[i]
	return &app.Error{Code: app.EInvalid, Reason: "no_snapshots", Field: "provider",
		Message: fmt.Sprintf("Volume %s of service %s has a schedule of snapshots, and provider %s doesn't make any.", p.Name, p.Service, spec.Name),
		Hint:    fmt.Sprintf("Set volumes.%s.snapshots to off in the configuration, or choose a provider whose type makes snapshots.", p.Name)}
}

// First reports whether volumes are created before the machine that has them, at a type of provider.
func (k Kinds) First(kind string) bool { return k.AtCreation != nil && k.AtCreation(kind) }

// MadeFirst reports whether a node has volumes that are made before its machine, which then can't be a pool's.
func MadeFirst(planned []Planned, node string) bool {
	return slices.ContainsFunc(planned, func(p Planned) bool { return p.First && p.Node == node })
}

// CheckStays refuses volumes that a machine would have to get, or lose, while it stays: at a provider where it has those that it was created with.
// Has are the volumes of the cluster.
func (k Kinds) CheckStays(spec *template.ProviderSpec, planned []Planned, has []Volume, nodes []plan.Node) error {
	if spec == nil || !k.First(spec.Type) {
		return nil
	}
	for _, n := range nodes {
		if n.Change != "" {
			continue
		}
		for _, p := range planned {
			known := func(v Volume) bool {
				return v.Cluster != "" && v.Node == n.Name && v.Service == p.Service && v.Name == p.Name
			}
			_, works := n.Work[p.Service]
			if p.Node == n.Name && (works || slices.Contains(n.Added, p.Service)) && !slices.ContainsFunc(has, known) {
				return atCreation(spec.Name, n.Name, fmt.Sprintf("mount volume %s of service %s", p.Name, p.Service))
			}
		}
		for _, v := range has {
			if v.Cluster != "" && v.Node == n.Name && slices.Contains(n.Removed, v.Service) {
				return atCreation(spec.Name, n.Name, fmt.Sprintf("unmount volume %s of service %s", v.Name, v.Service))
			}
		}
	}
	return nil
}

func atCreation(provider, node, what string) error {
	return &app.Error{Code: app.EInvalid, Reason: "volume_at_creation", Field: "services",
		Message: fmt.Sprintf("Node %s can't %s: provider %s mounts volumes only when it creates a machine.", node, what, provider),
		Hint:    "Create another cluster with the services that you need, and delete this one. Volumes that are kept can be used by the new one."}
}
