package openstack

import (
	"context"
	"net/http"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/groups"
	"muster/app"
	"muster/app/family"
	stack "muster/providers/internal/openstack"
	"muster/providers/internal/records"
)

// The kinds of what a cluster shares.
const (
	kindGroup    = "security_group"
	kindFloating = "floating_ip"
)

// Shared lists the clusters' security groups, floating IPs that lead nowhere any more, as when someone deleted a server by other means, and
// the names in the account's DNS zone.
func (p *Provider) Shared(ctx context.Context, tags map[string]string) ([]family.SharedThing, error) {
	return stack.With(ctx, p.sessions, func(s *stack.Session) ([]family.SharedThing, error) {
		var out []family.SharedThing
		if s.Network == nil {
			return nil, nil
		}
		all, err := listGroups(ctx, s, groups.ListOpts{})
		if err != nil {
			return nil, err
		}
		for _, g := range all {
			if has := read(g.Description); has != nil && strings.HasPrefix(g.Name, "muster/") && carries(has, tags) {
				out = append(out, family.SharedThing{ID: kindGroup + "/" + g.ID, Kind: kindGroup, Name: g.Name, Tags: has, CreatedAt: g.CreatedAt})
			}
		}
		idle, err := floatings(ctx, s, func(ip floatingips.FloatingIP, has map[string]string) bool {
			return ip.PortID == "" && has[tagServer] != "" && carries(has, tags)
		})
		for _, ip := range idle {
			out = append(out, family.SharedThing{ID: kindFloating + "/" + ip.ID, Kind: kindFloating, Name: ip.FloatingIP, Tags: read(ip.Description), CreatedAt: ip.CreatedAt})
		}
		if err != nil {
			return nil, err
		}
		err = p.inZone(ctx, s, func(z zone) error {
			names, err := records.Shared(ctx, z, tags)
			out = append(out, names...)
			return err
		})
		return out, err
	})
}

func carries(has, wanted map[string]string) bool {
	for k, v := range wanted {
		if has[k] != v {
			return false
		}
	}
	return true
}

// DeleteShared removes one of them.
func (p *Provider) DeleteShared(ctx context.Context, thing string) error {
	kind, id, _ := strings.Cut(thing, "/")
	if !stack.IsID(id) {
		_, err := stack.With(ctx, p.sessions, func(s *stack.Session) (any, error) {
			return nil, p.inZone(ctx, s, func(z zone) error {
				_, err := records.DropShared(ctx, z, thing, func(tags map[string]string) (bool, error) {
					found, err := stack.All(ctx, s, tags)
					return len(found) > 0, err
				})
				return err
			})
		})
		return err
	}
	_, err := stack.With(ctx, p.sessions, func(s *stack.Session) (any, error) {
		if s.Network == nil {
			return nil, nil
		}
		switch kind {
		case kindGroup:
			err := groups.Delete(ctx, s.Network, id).ExtractErr()
			if gophercloud.ResponseCodeIs(err, http.StatusConflict) {
				err = app.Errorf(app.ETransient, "security group %s is still used by a machine", id)
			}
			return nil, err
		case kindFloating:
			ip, err := floatingips.Get(ctx, s.Network, id).Extract()
			if err == nil && ip.PortID != "" {
				return nil, app.Errorf(app.ETransient, "floating IP %s belongs to a machine again", ip.FloatingIP)
			}
			if err == nil {
				err = floatingips.Delete(ctx, s.Network, id).ExtractErr()
			}
			return nil, err
		}
		return nil, nil
	})
	if stack.Absent(err) {
		return nil
	}
	return err
}
