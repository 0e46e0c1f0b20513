package azure

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"muster/app"
	"muster/app/family"
	"muster/providers/internal/account"
	"muster/providers/internal/records"
)

// A cluster's firewall is a network security group, and an application security group of the same name, by which its rules know the cluster's machines.

const (
	firstPriority = 200
	closing       = 4096 // the last that rules may have: above those that Azure has for a virtual network and load balancers
)

// prefixes returns CIDR ranges in their plain form, each once.
func prefixes(field string, texts []string) ([]string, error) {
	var out []string
	for _, text := range texts {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, account.Invalid(field, "%q isn't a CIDR range. For example, 203.0.113.0/24.", text)
		}
		if text = p.Masked().String(); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return out, nil
}

// rules are those of a cluster's firewall. Machines have no addresses of IPv6, for which Azure has no ICMP anyway: prefixes of it are left out.
func (g *group) rules(spec family.MachineSpec, o options) ([]*armnetwork.SecurityRule, error) {
	members := []*armnetwork.ApplicationSecurityGroup{{ID: ref(g.idOf(kindMembers, firewallName(spec.Tags)))}}
	var out []*armnetwork.SecurityRule
	add := func(name string, p armnetwork.SecurityRulePropertiesFormat) {
		p.Direction, p.SourcePortRange = ref(armnetwork.SecurityRuleDirectionInbound), ref("*")
		if p.Priority == nil {
			p.Priority = ref(int32(firstPriority + len(out))) //nolint:gosec // a few hundred at most
		}
		p.Access = ref(cmp.Or(value(p.Access), armnetwork.SecurityRuleAccessAllow))
		p.DestinationPortRange = ref(cmp.Or(value(p.DestinationPortRange), "*"))
		out = append(out, &armnetwork.SecurityRule{Name: ref(name), Properties: &p})
	}
	letIn := func(name, protocol, ports string, from []string) error {
		from, err := prefixes("from", from)
		if err != nil {
			return err
		}
		var some []*string
		for _, text := range from {
			if !strings.Contains(text, ":") {
				some = append(some, ref(text))
			}
		}
		if len(some) > 0 {
			add(name, armnetwork.SecurityRulePropertiesFormat{Protocol: ref(protocolOf(protocol)), SourceAddressPrefixes: some, DestinationAddressPrefix: ref("*"),
				DestinationPortRange: ref(ports)})
		}
		return nil
	}
	add("inside", armnetwork.SecurityRulePropertiesFormat{Protocol: ref(armnetwork.SecurityRuleProtocolAsterisk), SourceApplicationSecurityGroups: members,
		DestinationApplicationSecurityGroups: members})
	if err := letIn("ssh", "tcp", "22", o.sshFrom); err != nil {
		return nil, err
	}
	for i, r := range spec.Firewall.Rules {
		if err := letIn(fmt.Sprintf("rule-%02d", i), r.Protocol, r.Ports, r.From); err != nil {
			return nil, err
		}
	}
	add("closed", armnetwork.SecurityRulePropertiesFormat{Protocol: ref(armnetwork.SecurityRuleProtocolAsterisk), Access: ref(armnetwork.SecurityRuleAccessDeny),
		Priority: ref(int32(closing)), SourceAddressPrefix: ref("*"), DestinationAddressPrefix: ref("*")})
	return out, nil
}

func protocolOf(protocol string) armnetwork.SecurityRuleProtocol {
	switch protocol {
	case "tcp":
		return armnetwork.SecurityRuleProtocolTCP
	case "udp":
		return armnetwork.SecurityRuleProtocolUDP
	}
	return armnetwork.SecurityRuleProtocolIcmp
}

// ensureFirewall makes the cluster's firewall where it is missing, and corrects one that is different. It returns the IDs of its two groups. Names are unique
// in a resource group, and making one again with the same rules changes nothing, so two creates at once make one.
func (g *group) ensureFirewall(ctx context.Context, spec family.MachineSpec, o options) (wall, members string, err error) {
	name := firewallName(spec.Tags)
	unlock, err := g.locks.Lock(ctx, name)
	if err != nil {
		return "", "", err
	}
	defer unlock()
	wall, members = g.idOf(kindWall, name), g.idOf(kindMembers, name)
	rules, err := g.rules(spec, o)
	if err != nil {
		return "", "", err
	}
	is, err := g.walls.Get(ctx, g.group, name, nil)
	if err = coded(err); err == nil && is.Properties != nil && ready(is.Properties.ProvisioningState) && sameRules(is.Properties.SecurityRules, rules) {
		return wall, members, nil // and so are its members: while rules name them, they can't be deleted
	}
	if err != nil && !isAbsent(err) {
		return "", "", err
	}
	of := maps.Clone(spec.Tags)
	for _, k := range []string{family.TagNode, family.TagIntent} {
		delete(of, k)
	}
	tags, err := tagsFor(of)
	if err != nil {
		return "", "", err
	}
	tags[tagMade] = now()
	if is.Tags[tagMade] != nil {
		tags[tagMade] = is.Tags[tagMade]
	}
	err = put(ctx, g, g.members.BeginCreateOrUpdate, name, armnetwork.ApplicationSecurityGroup{Location: &g.location, Tags: tags,
		Properties: &armnetwork.ApplicationSecurityGroupPropertiesFormat{}})
	if err != nil {
		return "", "", err
	}
	err = put(ctx, g, g.walls.BeginCreateOrUpdate, name, armnetwork.SecurityGroup{Location: &g.location, Tags: tags,
		Properties: &armnetwork.SecurityGroupPropertiesFormat{SecurityRules: rules}})
	return wall, members, unknownYet(err)
}

// sameRules reports whether rules let in what is wanted.
func sameRules(is, wanted []*armnetwork.SecurityRule) bool {
	return slices.Equal(inWords(is), inWords(wanted))
}

func inWords(rules []*armnetwork.SecurityRule) []string {
	var out []string
	for _, r := range rules {
		p := r.Properties
		if p == nil {
			continue
		}
		from := []string{value(p.SourceAddressPrefix)}
		for _, s := range p.SourceAddressPrefixes {
			from = append(from, value(s))
		}
		for _, m := range p.SourceApplicationSecurityGroups {
			from = append(from, base(m.ID))
		}
		slices.Sort(from)
		text, _ := json.Marshal([]any{value(r.Name), value(p.Priority), p.Protocol, p.Access, p.Direction, from, value(p.DestinationPortRange),
			len(p.DestinationPortRanges),
			value(p.DestinationAddressPrefix), len(p.DestinationApplicationSecurityGroups)})
		out = append(out, strings.ToLower(string(text)))
	}
	slices.Sort(out)
	return out
}

// What things made for a cluster are called in their IDs.
const (
	kindFirewall = "firewall"
	kindParts    = "machine_parts"
)

// Shared lists the firewalls, what machines left that were never finished, and names in the account's DNS zone.
func (g *group) Shared(ctx context.Context, tags map[string]string) ([]family.SharedThing, error) {
	things := map[string]family.SharedThing{}
	add := func(kind, name string, raw map[string]*string) {
		has := tagsFrom(raw)
		if id := kind + "/" + name; has[family.TagInstallation] != "" && carries(has, tags) {
			things[id] = family.SharedThing{ID: id, Kind: kind, Name: name, Tags: has, CreatedAt: when(raw)}
		}
	}
	if err := pages(ctx, g.walls.NewListPager(g.group, nil), func(page armnetwork.SecurityGroupsClientListResponse) {
		for _, x := range page.Value {
			if name := strings.ToLower(value(x.Name)); firewallForm.MatchString(name) {
				add(kindFirewall, name, x.Tags)
			}
		}
	}); err != nil {
		return nil, err
	}
	if err := pages(ctx, g.members.NewListPager(g.group, nil), func(page armnetwork.ApplicationSecurityGroupsClientListResponse) {
		for _, x := range page.Value {
			if name := strings.ToLower(value(x.Name)); firewallForm.MatchString(name) {
				add(kindFirewall, name, x.Tags)
			}
		}
	}); err != nil {
		return nil, err
	}
	if err := g.leftovers(ctx, add); err != nil {
		return nil, err
	}
	out := slices.SortedFunc(maps.Values(things), func(a, b family.SharedThing) int { return strings.Compare(a.ID, b.ID) })
	if g.zone == "" {
		return out, nil
	}
	names, err := records.Shared(ctx, zone{g}, tags)
	if isAbsent(err) { // the zone is gone, with all names
		err = nil
	}
	return append(out, names...), err
}

// leftovers tells of interfaces and addresses whose machine doesn't exist.
func (g *group) leftovers(ctx context.Context, add func(kind, name string, tags map[string]*string)) error {
	exist := map[string]bool{}
	vms, err := g.listed(ctx, nil)
	if err != nil {
		return err
	}
	for _, vm := range vms {
		exist[strings.ToLower(value(vm.Name))] = true
	}
	look := func(name *string, tags map[string]*string, used bool) {
		if m := partForm.FindStringSubmatch(strings.ToLower(value(name))); m != nil && !used && !exist[m[1]] {
			add(kindParts, m[1], tags)
		}
	}
	if err := pages(ctx, g.cards.NewListPager(g.group, nil), func(page armnetwork.InterfacesClientListResponse) {
		for _, x := range page.Value {
			look(x.Name, x.Tags, x.Properties != nil && x.Properties.VirtualMachine != nil)
		}
	}); err != nil {
		return err
	}
	return pages(ctx, g.addresses.NewListPager(g.group, nil), func(page armnetwork.PublicIPAddressesClientListResponse) {
		for _, x := range page.Value {
			look(x.Name, x.Tags, x.Properties != nil && x.Properties.IPConfiguration != nil)
		}
	})
}

// DeleteShared removes one of them. Azure itself keeps a firewall that machines are behind.
func (g *group) DeleteShared(ctx context.Context, id string) error {
	if g.zone != "" {
		done, err := records.DropShared(ctx, zone{g}, id, func(tags map[string]string) (bool, error) {
			found, err := g.listed(ctx, tags)
			return len(found) > 0, err
		})
		if done || err != nil && !isAbsent(err) {
			return err
		}
	}
	kind, name, _ := strings.Cut(id, "/")
	switch {
	case kind == kindFirewall && firewallForm.MatchString(name):
		return g.dropFirewall(ctx, name)
	case kind == kindParts && machineForm.MatchString(name):
		unlock, err := g.locks.Lock(ctx, name)
		if err != nil {
			return err
		}
		defer unlock()
		if _, err := g.vm(ctx, name); !isAbsent(err) {
			return cmp.Or(err, error(app.Errorf(app.ETransient, "Machine %s still exists.", name)))
		}
		return g.parts().removeParts(ctx, name)
	}
	return ctx.Err()
}

// dropFirewall removes the rules first: they name the other group.
func (g *group) dropFirewall(ctx context.Context, name string) error {
	err := drop(ctx, g, g.walls.BeginDelete, name)
	if err == nil {
		err = drop(ctx, g, g.members.BeginDelete, name)
	}
	if e := app.AsError(err); err != nil && strings.Contains(e.Reason, "InUse") {
		return app.Errorf(app.ETransient, "Firewall %s is still in use: %s", name, e.Message)
	}
	return err
}
