package vsphere

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/providers/internal/keylock"

	"github.com/vmware/govmomi/vim25/types"
)

// site is what the account's datacenter has for machines, as of a short while ago.
type site struct {
	at         time.Time
	name       string
	datacenter ref
	vms        ref               // its VM folder
	clusters   map[string]object // by name, as are all of these
	datastores map[string]object
	pods       map[string]object // datastore clusters
	networks   map[string]object
}

const (
	typeDatacenter = "Datacenter"
	typeCluster    = "ComputeResource" // those with one host and no cluster, too
	typeDRS        = "ClusterComputeResource"
	typeDatastore  = "Datastore"
	typePod        = "StoragePod"
	typeNetwork    = "Network"
	typeFolder     = "Folder"
	typeVM         = "VirtualMachine"
	typeTask       = "Task"
	typePortgroup  = "DistributedVirtualPortgroup"
	propSwitch     = "config.distributedVirtualSwitch"
)

// inventory is where things are in vCenter.
type inventory struct {
	*session
	fresh time.Duration // how long what was read counts as known
	locks keylock.Locks
	site  *site // behind the lock "site"
	// The templates of a site, behind the lock "templates".
	images   map[string]object
	imagesOf *site

	mu    sync.Mutex
	known *ref // the folder of the machines
}

// theSite returns the site, read at most once in a while.
func (c *inventory) theSite(ctx context.Context) (*site, error) {
	unlock, err := c.locks.Lock(ctx, "site")
	if err != nil {
		return nil, err
	}
	defer unlock()
	if c.site != nil && time.Since(c.site.at) < c.fresh {
		return c.site, nil
	}
	s, err := c.readSite(ctx)
	if err == nil {
		c.site = s
	}
	return s, err
}

// outdated has all be read again.
func (c *inventory) outdated() {
	if unlock, err := c.locks.Lock(context.Background(), "site"); err == nil {
		c.site = nil
		unlock()
	}
	c.remember(nil)
}

func (c *inventory) readSite(ctx context.Context) (*site, error) {
	dc, err := c.findDatacenter(ctx)
	if err != nil {
		return nil, err
	}
	s := &site{at: time.Now(), name: plain(prop[string](dc, "name")), datacenter: dc.ref, vms: prop[ref](dc, "vmFolder"),
		clusters: map[string]object{}, datastores: map[string]object{}, pods: map[string]object{}, networks: map[string]object{}}
	paths := []string{"name", "resourcePool", "datastore", "network", "summary"}
	clusters, err := c.collect(ctx, []ref{prop[ref](dc, "hostFolder")}, below(), want{typeCluster, paths}, want{typeDRS, append(slices.Clone(paths), propDRS)})
	if err != nil {
		return nil, err
	}
	named(s.clusters, clusters)
	stores, err := c.collect(ctx, []ref{prop[ref](dc, "datastoreFolder")}, below(),
		want{typeDatastore, []string{"name", "summary", "parent"}}, want{typePod, []string{"name", "childEntity"}})
	if err != nil {
		return nil, err
	}
	for _, o := range stores {
		if o.Type == typePod {
			named(s.pods, []object{o})
		} else {
			named(s.datastores, []object{o})
		}
	}
	networks, err := c.collect(ctx, []ref{dc.ref}, along(typeDatacenter, "network"), want{typeNetwork, []string{"name", "summary"}},
		want{typePortgroup, []string{"name", "summary", "config.distributedVirtualSwitch", "key"}})
	if err != nil {
		return nil, err
	}
	named(s.networks, networks)
	return s, c.readSwitches(ctx, networks)
}

// readSwitches notes the UUIDs of distributed port groups' switches, which adapters name.
func (c *inventory) readSwitches(ctx context.Context, groups []object) error {
	var switches []ref
	for _, g := range groups {
		if of, ok := g.props[propSwitch].(ref); ok && !slices.Contains(switches, of) {
			switches = append(switches, of)
		}
	}
	found, err := c.collect(ctx, switches, nil, want{"DistributedVirtualSwitch", []string{"uuid"}})
	for _, g := range groups {
		for _, s := range found {
			if g.props[propSwitch] == s.ref {
				g.props["switch"] = prop[string](s, "uuid")
			}
		}
	}
	return err
}

// named puts objects into a map by their names. Of several with one name, which folders allow, it's the one that was there first.
func named(into map[string]object, all []object) {
	for _, o := range all {
		name := plain(prop[string](o, "name"))
		if was, there := into[name]; name != "" && (!there || compareRefs(o.ref, was.ref) < 0) {
			into[name] = o
		}
	}
}

func compareRefs(a, b ref) int {
	return cmp.Or(cmp.Compare(len(a.Value), len(b.Value)), cmp.Compare(a.Value, b.Value))
}

// plain is a name as people write it: in an inventory, three letters have a code instead.
var plain = strings.NewReplacer("%2f", "/", "%2F", "/", "%5c", `\`, "%5C", `\`, "%25", "%").Replace

func (c *inventory) findDatacenter(ctx context.Context) (object, error) {
	paths := []string{"name", "vmFolder", "hostFolder", "datastoreFolder"}
	if c.datacenter != "" {
		found, err := c.at(ctx, "/"+c.datacenter)
		if err != nil {
			return object{}, err
		}
		if found != nil && found.Type == typeDatacenter {
			return c.one(ctx, *found, paths...)
		}
	}
	content, err := c.content(ctx)
	if err != nil {
		return object{}, err
	}
	all, err := c.collect(ctx, []ref{content.RootFolder}, below(), want{typeDatacenter, paths})
	if err != nil {
		return object{}, err
	}
	byName := map[string]object{}
	named(byName, all)
	dc, ok := byName[c.datacenter]
	switch names := sorted(byName); {
	case ok:
		return dc, nil
	case c.datacenter == "" && len(all) == 1:
		return all[0], nil
	case len(all) == 0:
		return dc, setting("datacenter", hintPermission, "the user can't see any datacenter in vCenter")
	case c.datacenter == "":
		return dc, setting("datacenter", "Set datacenter to one of "+strings.Join(names, ", ")+".", "vCenter has several datacenters")
	default:
		return dc, setting("datacenter", humanize.Suggest(c.datacenter, names), "datacenter %q doesn't exist, or the user can't see it", c.datacenter)
	}
}

// setting is the error of a setting that names what isn't there.
func setting(field, hint, format string, args ...any) *app.Error {
	e := app.Errorf(app.EInvalid, format, args...)
	e.Field, e.Hint = "settings."+field, hint
	return e
}

// unknown is the error of a setting that names something that the datacenter doesn't have.
func (s *site) unknown(field, what, name string, names []string) *app.Error {
	return setting(field, humanize.Suggest(name, names), "%s %q doesn't exist in datacenter %s, or the user can't see it", what, name, s.name)
}

// cluster returns the compute cluster of a zone, or the account's for "".
func (s *site) cluster(zone, usual string) (object, error) {
	names := sorted(s.clusters)
	name := cmp.Or(zone, usual)
	found, ok := s.clusters[name]
	switch {
	case ok:
		return found, nil
	case name == "" && len(names) == 1:
		return s.clusters[names[0]], nil
	case len(names) == 0:
		return found, setting("cluster", hintPermission, "the user can't see any compute cluster in datacenter %s", s.name)
	case name == "":
		return found, setting("cluster", "Set cluster to one of "+strings.Join(names, ", ")+".",
			"datacenter %s has several compute clusters", s.name)
	}
	return found, s.unknown("cluster", "compute cluster", name, names)
}

// poolOf returns where machines of a cluster get their resources from.
func (c *inventory) poolOf(ctx context.Context, cluster object) (ref, error) {
	root := prop[ref](cluster, "resourcePool")
	if c.pool == "" {
		return root, nil
	}
	pools, err := c.collect(ctx, []ref{root}, through("ResourcePool", "resourcePool", "pools"), want{"ResourcePool", []string{"name"}})
	if err != nil {
		return ref{}, err
	}
	byName := map[string]object{}
	named(byName, pools)
	if p, ok := byName[c.pool]; ok {
		return p.ref, nil
	}
	return ref{}, setting("resource_pool", humanize.Suggest(c.pool, sorted(byName)),
		"resource pool %q doesn't exist in compute cluster %s, or the user can't see it", c.pool, plain(prop[string](cluster, "name")))
}

// store returns the datastore for a cluster's machines: the one that is named, or, of a datastore cluster, the one with the most space. Nil leaves it to the
// template.
func (s *site) store(name string, cluster object) (*object, error) {
	if name == "" {
		return nil, nil
	}
	var best *object
	consider := func(o object) {
		if usable(o) && reaches(cluster, o) && (best == nil || free(o) > free(*best)) {
			best = &o
		}
	}
	pod, isPod := s.pods[name]
	one, isStore := s.datastores[name]
	switch {
	case isPod:
		for _, o := range s.datastores {
			if slices.Contains(prop[types.ArrayOfManagedObjectReference](pod, "childEntity").ManagedObjectReference, o.ref) {
				consider(o)
			}
		}
	case isStore:
		consider(one)
	default:
		return nil, s.unknown("datastore", "datastore", name, slices.Concat(sorted(s.datastores), sorted(s.pods)))
	}
	if best == nil {
		return nil, setting("datastore", "Choose a datastore that all of the cluster's hosts can use, or end its maintenance.",
			"datastore %q can't be used by compute cluster %s", name, plain(prop[string](cluster, "name")))
	}
	return best, nil
}

func usable(o object) bool {
	s := prop[types.DatastoreSummary](o, "summary")
	return s.Accessible && (s.MaintenanceMode == "" || s.MaintenanceMode == string(types.DatastoreSummaryMaintenanceModeStateNormal))
}

func free(o object) int64 { return prop[types.DatastoreSummary](o, "summary").FreeSpace }

// reaches reports whether a cluster has a datastore or a network.
func reaches(cluster, o object) bool {
	for _, of := range []string{"datastore", "network"} {
		if slices.Contains(prop[types.ArrayOfManagedObjectReference](cluster, of).ManagedObjectReference, o.ref) {
			return true
		}
	}
	return false
}

// port returns the network of the setting for a cluster's machines; nil leaves it to the template.
func (s *site) port(name string, cluster object) (*object, error) {
	if name == "" {
		return nil, nil
	}
	n, ok := s.networks[name]
	if !ok {
		return nil, s.unknown("network", "network", name, sorted(s.networks))
	}
	if !reaches(cluster, n) {
		return nil, setting("network", "Choose a port group that the cluster's hosts have.",
			"network %q isn't available in compute cluster %s", name, plain(prop[string](cluster, "name")))
	}
	if n.Type == typePortgroup && prop[string](n, "switch") == "" {
		return nil, setting("network", "Give the user the role Read-only on the distributed switch.", "the user can't see the distributed switch of network %q", name)
	}
	return &n, nil
}
