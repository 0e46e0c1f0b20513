package openstack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/pagination"
	"muster/app"
	"muster/app/family"
)

// Server is one of Nova's, with what the SDK leaves out of it.
type Server struct {
	servers.Server
	Volumes   []Volume
	Addresses map[string][]Address
}

// Volume is attached to a server.
type Volume struct {
	ID   string `json:"id"`
	Ours bool   `json:"delete_on_termination"` // it was made with the server, and goes with it
}

// Address is one of a server's.
type Address struct {
	Addr    string `json:"addr"`
	Version int    `json:"version"`
	Type    string `json:"OS-EXT-IPS:type"` // fixed or floating; some clouds do not say
}

// UnmarshalJSON reads what the SDK reads, and the rest.
func (s *Server) UnmarshalJSON(b []byte) error {
	rest := struct {
		Volumes   []Volume             `json:"os-extended-volumes:volumes_attached"`
		Addresses map[string][]Address `json:"addresses"`
	}{}
	if err := json.Unmarshal(b, &rest); err != nil {
		return err
	}
	s.Volumes, s.Addresses = rest.Volumes, rest.Addresses
	return json.Unmarshal(b, &s.Server)
}

// MetaAccess is metadata of a server that is for us alone, and no tag: how it is to be reached.
const (
	MetaAccess     = "muster-access"
	AccessFloating = "floating"
)

var uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$`)

// IsID reports whether something may be the id of a server, network, port and so on.
func IsID(id string) bool { return uuid.MatchString(id) }

// Tags are the server's, as they were given.
func (s *Server) Tags() map[string]string {
	tags := maps.Clone(s.Metadata)
	if tags == nil {
		tags = map[string]string{}
	}
	maps.DeleteFunc(tags, func(k, _ string) bool { return hidden(k) })
	return tags
}

// hidden reports whether metadata is no tag: our own word on access, and what Rackspace's automation writes beside it.
func hidden(key string) bool {
	return key == MetaAccess || strings.HasPrefix(key, "rackconnect_") || strings.HasPrefix(key, "rax_") || strings.HasPrefix(key, "rax:")
}

// WantsFloating reports whether the server is to have a floating IP.
func (s *Server) WantsFloating() bool { return s.Metadata[MetaAccess] == AccessFloating }

// going reports whether a server is gone, or on its way.
func (s *Server) going() bool {
	return s.gone() || s.TaskState == "deleting" || s.TaskState == "soft-deleting"
}

func (s *Server) gone() bool { return s.Status == "DELETED" || s.Status == "SOFT_DELETED" }

// Machine returns the server in the family's words. Networks are the names of those that it is on, the first one first, where that is known.
func (s *Server) Machine(networks []string) family.Machine {
	m := family.Machine{ID: s.ID, Hostname: s.Name, Tags: s.Tags(), OwnRoot: true, Zone: s.AvailabilityZone, CreatedAt: s.Created, State: s.state(), Addresses: s.addresses(networks)}
	m.Note = "OpenStack server, " + s.Status
	if said := Plain(s.Fault.Message); said != "" {
		m.Note += ": " + said
	}
	return m
}

func (s *Server) state() family.MachineState {
	switch s.Status {
	case "ACTIVE", "VERIFY_RESIZE", "PASSWORD":
		if s.WantsFloating() && !s.Floats() {
			return family.MachineStarting // Nova tells of a floating IP seconds after Neutron has given it
		}
		return family.MachineRunning
	case "SHUTOFF":
		if s.TaskState == "powering-on" {
			return family.MachineStarting
		}
		return family.MachineStopped
	case "ERROR", "PAUSED", "SUSPENDED", "SHELVED", "SHELVED_OFFLOADED", "RESCUE", "DELETED", "SOFT_DELETED":
		return family.MachineStopped
	}
	return family.MachineStarting
}

// Floats reports whether Nova knows a floating IP of the server.
func (s *Server) Floats() bool {
	for _, all := range s.Addresses {
		if slices.ContainsFunc(all, func(a Address) bool { return a.Type == AccessFloating }) {
			return true
		}
	}
	return false
}

// addresses chooses how a server is reached from outside and from its neighbours: by its floating IP, else by an address that is public, else by
// its first; among each other by the first that is private, else by its first. Until a floating IP is known , there is no access.
func (s *Server) addresses(order []string) map[string]string {
	names := slices.SortedFunc(maps.Keys(s.Addresses), func(a, b string) int {
		return cmp.Or(cmp.Compare(place(order, a), place(order, b)), cmp.Compare(a, b))
	})
	var floating, public, private, first string
	for _, name := range names {
		for _, a := range s.Addresses[name] {
			ip, err := netip.ParseAddr(a.Addr)
			if err != nil || !ip.Is4() {
				continue
			}
			if a.Type == "floating" {
				floating = cmp.Or(floating, a.Addr)
				continue
			}
			first = cmp.Or(first, a.Addr)
			if ip.IsPrivate() {
				private = cmp.Or(private, a.Addr)
			} else {
				public = cmp.Or(public, a.Addr)
			}
		}
	}
	out := map[string]string{}
	if at := cmp.Or(floating, public, first); at != "" && (floating != "" || !s.WantsFloating()) {
		out[app.AddressAccess] = at
	}
	if at := cmp.Or(private, first); at != "" {
		out[app.AddressBind] = at
	}
	return out
}

func place(order []string, name string) int {
	if i := slices.Index(order, name); i >= 0 {
		return i
	}
	return len(order)
}

// Get returns a server; ENotFound where there is none.
func Get(ctx context.Context, s *Session, id string) (*Server, error) {
	if !IsID(id) {
		return nil, app.Errorf(app.ENotFound, "server %q doesn't exist", id)
	}
	var out struct {
		Server *Server `json:"server"`
	}
	r := servers.Get(ctx, s.Compute, id)
	if r.Err != nil {
		if gophercloud.ResponseCodeIs(r.Err, http.StatusNotFound) {
			return nil, app.Errorf(app.ENotFound, "server %q doesn't exist", id)
		}
		return nil, r.Err
	}
	if err := r.Result.ExtractInto(&out); err != nil {
		return nil, err
	}
	if out.Server == nil || out.Server.gone() {
		return nil, app.Errorf(app.ENotFound, "server %q doesn't exist", id)
	}
	return out.Server, nil
}

// All returns the servers that carry all of the tags. Nova filters by metadata for administrators alone, so it is done here.
func All(ctx context.Context, s *Session, tags map[string]string) ([]*Server, error) {
	var found []*Server
	err := Whole(func() error {
		found = nil
		seen := map[string]bool{} // a page may repeat what moved while it was read
		return servers.List(s.Compute, servers.ListOpts{}).EachPage(ctx, Bounded(func(_ context.Context, page pagination.Page) (bool, error) {
			var in struct {
				Servers []*Server `json:"servers"`
			}
			if err := page.(servers.ServerPage).ExtractInto(&in); err != nil {
				return false, err
			}
			for _, one := range in.Servers {
				if !one.gone() && !seen[one.ID] && carries(one.Metadata, tags) {
					seen[one.ID] = true
					found = append(found, one)
				}
			}
			return true, nil
		}))
	})
	return found, err
}

// Whole reads a list from its beginning until it was read to its end: a page is asked for by the last thing on the one before it, and where that
// has been deleted meanwhile the cloud knows no more where to continue.
func Whole(read func() error) error {
	for range 5 {
		err := read()
		var status gophercloud.ErrUnexpectedResponseCode
		if !errors.As(err, &status) || status.Actual != http.StatusBadRequest && status.Actual != http.StatusNotFound || !strings.Contains(status.URL, "marker=") {
			return err
		}
	}
	return app.Errorf(app.ETransient, "the cloud's list changes faster than it can be read")
}

func carries(has, wanted map[string]string) bool {
	for k, v := range wanted {
		if got, ok := has[k]; !ok || got != v {
			return false
		}
	}
	return true
}

// find returns the server of an intent; nil where there is none. Of several the oldest counts, so that everyone takes the same.
func find(ctx context.Context, s *Session, tags map[string]string) (*Server, error) {
	found, err := All(ctx, s, map[string]string{family.TagInstallation: tags[family.TagInstallation], family.TagIntent: tags[family.TagIntent]})
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(one *Server) bool { return one.going() })
	if len(found) == 0 {
		return nil, nil
	}
	return slices.MinFunc(found, func(a, b *Server) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	}), nil
}
