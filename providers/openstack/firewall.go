package openstack

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/groups"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/rules"
	"github.com/gophercloud/gophercloud/v2/pagination"
	"muster/app"
	"muster/app/family"
	"muster/app/template"
	stack "muster/providers/internal/openstack"
)

// rule lets something in, or out. Fields that are empty mean everything.
type rule struct {
	direction rules.RuleDirection
	ether     rules.RuleEtherType
	protocol  rules.RuleProtocol
	min, max  int
	from      string // a prefix
	group     string // or a group
}

// self means the group that a rule belongs to, before it is made.
const self = "self"

// rulesOf returns all rules of a cluster's group: the firewall's own, SSH, everything among the cluster's machines, and everything that goes out.
func rulesOf(f template.Firewall, sshFrom []netip.Prefix) ([]rule, error) {
	out := []rule{
		{direction: rules.DirEgress, ether: rules.EtherType4}, {direction: rules.DirEgress, ether: rules.EtherType6},
		{direction: rules.DirIngress, ether: rules.EtherType4, group: self}, {direction: rules.DirIngress, ether: rules.EtherType6, group: self},
	}
	add := func(protocol string, min, max int, from netip.Prefix) {
		r := rule{direction: rules.DirIngress, ether: rules.EtherType4, protocol: rules.RuleProtocol(protocol), min: min, max: max, from: everywhere(from.Masked().String())}
		if from.Addr().Is6() {
			if r.ether = rules.EtherType6; protocol == "icmp" {
				r.protocol = rules.ProtocolIPv6ICMP
			}
		}
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	for _, from := range sshFrom {
		add("tcp", 22, 22, from)
	}
	for _, one := range f.Rules {
		min, max, err := portsOf(one)
		if err != nil {
			return nil, err
		}
		if len(one.From) == 0 {
			return nil, app.Errorf(app.EInvalid, "the firewall rule for %s %s has no sources", one.Protocol, one.Ports)
		}
		for _, text := range one.From {
			from, err := netip.ParsePrefix(text)
			if err != nil {
				return nil, app.Errorf(app.EInvalid, "the firewall rule's source %q isn't a CIDR range", text)
			}
			add(one.Protocol, min, max, from)
		}
	}
	return out, nil
}

func portsOf(r template.FirewallRule) (least, most int, err error) {
	switch r.Protocol {
	case "icmp":
		if r.Ports != "" {
			return 0, 0, app.Errorf(app.EInvalid, "the firewall rule for icmp has ports, %q, which icmp doesn't support", r.Ports)
		}
		return 0, 0, nil
	case "tcp", "udp":
	default:
		return 0, 0, app.Errorf(app.EInvalid, "firewall rules support tcp, udp and icmp, not %q", r.Protocol)
	}
	first, last, span := strings.Cut(r.Ports, "-")
	if !span {
		last = first
	}
	least, e1 := strconv.Atoi(strings.TrimSpace(first))
	most, e2 := strconv.Atoi(strings.TrimSpace(last))
	if e1 != nil || e2 != nil || least < 1 || most < least || most > 65535 {
		return 0, 0, app.Errorf(app.EInvalid, "%q isn't a port or a port range. For example, 443 or 8000-8100", r.Ports)
	}
	return least, most, nil
}

// everywhere writes a prefix that holds every address as nothing, which Neutron takes for the same.
func everywhere(prefix string) string {
	if prefix == "0.0.0.0/0" || prefix == "::/0" {
		return ""
	}
	return prefix
}

func groupName(tags map[string]string) string {
	name := "muster/" + tags[family.TagInstallation] + "/" + tags[family.TagCluster]
	if len(name) > 255 {
		name = fmt.Sprintf("%s/%x", name[:180], sha256.Sum256([]byte(name)))
	}
	return name
}

// group returns the id of the cluster's group, which is made where it is missing, with the rules that it is to have.
func (p *Provider) group(ctx context.Context, s *stack.Session, o order) (string, error) {
	if err := s.Needs("network", s.Network); err != nil {
		return "", err
	}
	name := groupName(o.spec.Tags)
	done, err := p.turns.Take(ctx, "group "+name)
	if err != nil {
		return "", err
	}
	defer done()
	found, err := clusterGroups(ctx, s, o.spec.Tags)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		mine, err := groups.Create(ctx, s.Network, groups.CreateOpts{Name: name, Description: written(o.spec.Tags, family.TagInstallation, family.TagCluster, family.TagTenant)}).Extract()
		if err != nil {
			return "", err
		}
		// Another process may have made one at the same time, since Neutron lets groups have the same name. All take the same one.
		if err := p.pace.Once(ctx); err != nil {
			return "", err
		}
		if found, err = clusterGroups(ctx, s, o.spec.Tags); err != nil {
			return "", err
		}
		if len(found) == 0 {
			found = []groups.SecGroup{*mine}
		}
		if found[0].ID != mine.ID {
			_ = groups.Delete(ctx, s.Network, mine.ID).ExtractErr() // if it stays, it is notified of as something shared
		}
	}
	return found[0].ID, bring(ctx, s, found[0], o.rules)
}

// clusterGroups returns a cluster's groups, the one that counts first.
func clusterGroups(ctx context.Context, s *stack.Session, tags map[string]string) ([]groups.SecGroup, error) {
	all, err := listGroups(ctx, s, groups.ListOpts{Name: groupName(tags)})
	all = slices.DeleteFunc(all, func(g groups.SecGroup) bool {
		has := read(g.Description)
		return has[family.TagInstallation] != tags[family.TagInstallation] || has[family.TagCluster] != tags[family.TagCluster]
	})
	// One that has its rules is used already; and Neutron's clock counts whole seconds.
	slices.SortFunc(all, func(a, b groups.SecGroup) int {
		return cmp.Or(cmp.Compare(ready(a), ready(b)), a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return all, err
}

// ready returns 0 for a group that has its rules.
func ready(g groups.SecGroup) int {
	if slices.ContainsFunc(g.Rules, func(r rules.SecGroupRule) bool { return r.Direction == string(rules.DirIngress) }) {
		return 0
	}
	return 1
}

func listGroups(ctx context.Context, s *stack.Session, o groups.ListOpts) (all []groups.SecGroup, err error) {
	o.ProjectID = s.Token.Project
	err = stack.Whole(func() error {
		all = nil
		return groups.List(s.Network, o).EachPage(ctx, stack.Bounded(func(_ context.Context, page pagination.Page) (bool, error) {
			some, err := groups.ExtractGroups(page)
			all = append(all, some...)
			return true, err
		}))
	})
	return all, err
}

// compareRules tells what a group lacks of the rules that are wanted, and the ids of those that it has too many.
func compareRules(g groups.SecGroup, wanted []rule) (missing []rules.CreateOpts, surplus []string) {
	have := map[rule]bool{}
	for _, r := range g.Rules {
		one := ruleOf(r, g.ID)
		if have[one] || one.direction == rules.DirIngress && !slices.Contains(wanted, one) {
			surplus = append(surplus, r.ID)
			continue
		}
		have[one] = true
	}
	for _, r := range wanted {
		if !have[r] {
			missing = append(missing, r.options(g.ID))
		}
	}
	return missing, surplus
}

// bring has a group hold just the rules that are wanted.
func bring(ctx context.Context, s *stack.Session, g groups.SecGroup, wanted []rule) error {
	for range 3 { // another process may do the same just now
		missing, surplus := compareRules(g, wanted)
		if len(missing) > 0 {
			_, err := rules.CreateBulk(ctx, s.Network, missing).Extract()
			if gophercloud.ResponseCodeIs(err, http.StatusConflict) && strings.Contains(err.Error(), "SecurityGroupRuleExists") {
				now, err := groups.Get(ctx, s.Network, g.ID).Extract()
				if err != nil {
					return err
				}
				g = *now
				continue
			}
			if err != nil {
				return err
			}
		}
		for _, id := range surplus {
			if err := rules.Delete(ctx, s.Network, id).ExtractErr(); err != nil && !stack.Absent(err) {
				return err
			}
		}
		return nil
	}
	return app.Errorf(app.ETransient, "the rules of security group %s keep changing", g.Name)
}

func ruleOf(r rules.SecGroupRule, group string) rule {
	out := rule{direction: rules.RuleDirection(r.Direction), ether: rules.RuleEtherType(r.EtherType), protocol: rules.RuleProtocol(r.Protocol),
		min: r.PortRangeMin, max: r.PortRangeMax, from: everywhere(r.RemoteIPPrefix), group: r.RemoteGroupID}
	if r.RemoteGroupID == group {
		out.group = self
	}
	if r.Protocol == "icmpv6" {
		out.protocol = rules.ProtocolIPv6ICMP
	}
	if r.RemoteAddressGroupID != "" {
		out.group = "addresses " + r.RemoteAddressGroupID
	}
	return out
}

func (r rule) options(group string) rules.CreateOpts {
	o := rules.CreateOpts{Direction: r.direction, EtherType: r.ether, SecGroupID: group, Protocol: r.protocol, PortRangeMin: r.min, PortRangeMax: r.max, RemoteIPPrefix: r.from}
	if r.group == self {
		o.RemoteGroupID = group
	}
	return o
}
