package google

import (
	"cmp"
	"context"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/providers/google/internal/gcp"
	"muster/providers/internal/records"
)

// Priorities of our rules. The last one closes a cluster's machines against whatever a network lets in to everyone by rules of a lower rank, as
// those are that the network "default" is born with (65534).
const (
	opening = 1000
	closing = 65000
)

// wantedRules are the rules of one cluster's firewall, by name. Their names begin with the cluster's network tag; what they belong to is in
// their description, since rules have no labels.
func wantedRules(spec family.MachineSpec, c choices, network string) map[string]*gcp.Firewall {
	tag := networkTag(spec.Tags)
	about, _ := json.Marshal(map[string]string{family.TagInstallation: spec.Tags[family.TagInstallation], family.TagCluster: spec.Tags[family.TagCluster]})
	rules := map[string]*gcp.Firewall{}
	add := func(name string, f *gcp.Firewall) {
		f.Name, f.Description, f.Network, f.Direction, f.TargetTags = tag+"-"+name, string(about), network, "INGRESS", []string{tag}
		f.Priority = cmp.Or(f.Priority, opening)
		rules[f.Name] = f
	}
	letIn := func(name, protocol, ports string, from []string) {
		for version, prefixes := range byVersion(from) {
			protocol := protocol
			if protocol == "icmp" && version == "6" {
				protocol = "58"
			}
			allowed := &gcp.FirewallTraffic{IPProtocol: protocol}
			if ports != "" {
				allowed.Ports = []string{ports}
			}
			add(name+"-v"+version, &gcp.Firewall{SourceRanges: prefixes, Allowed: []*gcp.FirewallTraffic{allowed}})
		}
	}
	add("inside", &gcp.Firewall{SourceTags: []string{tag}, Allowed: []*gcp.FirewallTraffic{{IPProtocol: "all"}}})
	add("closed", &gcp.Firewall{SourceRanges: []string{"0.0.0.0/0"}, Denied: []*gcp.FirewallTraffic{{IPProtocol: "all"}}, Priority: closing})
	letIn("ssh", "tcp", "22", c.sshFrom)
	for _, r := range spec.Firewall.Rules {
		letIn("r"+digest(r.Protocol, r.Ports, strings.Join(r.From, ","))[:10], r.Protocol, r.Ports, r.From)
	}
	return rules
}

// byVersion parts prefixes by the version of IP, since a rule holds those of one.
func byVersion(prefixes []string) map[string][]string {
	out := map[string][]string{}
	for _, text := range prefixes {
		version := "4"
		if p, err := netip.ParsePrefix(text); err == nil {
			text = p.Masked().String()
			if p.Addr().Is6() {
				version = "6"
			}
		}
		out[version] = append(out[version], text)
	}
	for v := range out {
		slices.Sort(out[v])
	}
	return out
}

// ensureFirewall makes the cluster's rules where they are missing, puts those right that are others, and removes those that are not wanted any more.
// Names are unique in a project, so two creates at once make each rule once.
func (p *Provider) ensureFirewall(ctx context.Context, spec family.MachineSpec, c choices, zone string) error {
	network, err := p.networkFor(ctx, c, zone)
	if err != nil {
		return err
	}
	project, _, _ := in(network)
	have, err := p.rules(ctx, project, networkTag(spec.Tags)+"-")
	if err != nil {
		return err
	}
	wanted := wantedRules(spec, c, network)
	var begun []*gcp.Operation
	begin := func(op *gcp.Operation, err error, quiet app.Code) error {
		if err = coded(err); err != nil && app.CodeOf(err) != quiet {
			return err
		}
		if err == nil {
			begun = append(begun, op)
		}
		return nil
	}
	for _, name := range sorted(wanted) {
		rule, is := wanted[name], have[name]
		switch {
		case is == nil:
			op, err := p.api.InsertFirewall(ctx, project, rule, freshID())
			if err := begin(op, err, app.EConflict); err != nil { // another create was quicker
				return err
			}
		case !same(is, rule):
			op, err := p.api.UpdateFirewall(ctx, project, name, rule, freshID())
			if err := begin(op, err, ""); err != nil {
				return err
			}
		}
	}
	for _, name := range sorted(have) {
		if wanted[name] == nil {
			op, err := p.api.DeleteFirewall(ctx, project, name, freshID())
			if err := begin(op, err, app.ENotFound); err != nil {
				return err
			}
		}
	}
	for _, op := range begun {
		if err := p.await(ctx, project, op); err != nil && app.CodeOf(err) != app.EConflict && app.CodeOf(err) != app.ENotFound {
			return err
		}
	}
	return nil
}

// networkFor returns the network's path; where only the subnetwork is known, the cloud says it.
func (p *Provider) networkFor(ctx context.Context, c choices, zone string) (string, error) {
	if path := p.networkPath(c); path != "" {
		return path, nil
	}
	project, where, name := in(p.subnetworkPath(c, zone))
	s, err := p.api.Subnetwork(ctx, project, where, name)
	if err = coded(err); app.CodeOf(err) == app.ENotFound {
		return "", app.Errorf(app.EInvalid, "subnetwork %s doesn't exist in %s", name, where)
	}
	if err != nil {
		return "", err
	}
	return trimmed(s.Network), nil
}

// rules returns the rules of a project whose names begin so.
func (p *Provider) rules(ctx context.Context, project, prefix string) (map[string]*gcp.Firewall, error) {
	out := map[string]*gcp.Firewall{}
	err := p.api.Firewalls(ctx, project, "name eq "+prefix+".*", func(page *gcp.FirewallList) error {
		if w := page.Warning; w != nil && w.Code != "" && w.Code != "NO_RESULTS_ON_PAGE" {
			return app.Errorf(app.ETransient, "can't list all firewall rules: %s", w.Message)
		}
		for _, f := range page.Items {
			if strings.HasPrefix(f.Name, prefix) {
				out[f.Name] = f
			}
		}
		return nil
	})
	return out, coded(err)
}

// same reports whether a rule lets in what is wanted.
func same(is, wanted *gcp.Firewall) bool {
	allowed := func(f *gcp.Firewall) string {
		text := ""
		for _, a := range f.Allowed {
			text += "+" + a.IPProtocol + ":" + strings.Join(a.Ports, ",")
		}
		for _, d := range f.Denied {
			text += "-" + d.IPProtocol + ":" + strings.Join(d.Ports, ",")
		}
		return text
	}
	equal := func(a, b []string) bool {
		return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
	}
	return !is.Disabled && is.Priority == wanted.Priority && allowed(is) == allowed(wanted) && equal(is.SourceRanges, wanted.SourceRanges) &&
		equal(is.SourceTags, wanted.SourceTags) && equal(is.TargetTags, wanted.TargetTags) && trimmed(is.Network) == wanted.Network
}

// kindFirewall is what a rule is called among what a cluster shares.
const kindFirewall = "firewall"

// Shared lists the firewall rules that were made for clusters, and the names in the account's DNS zone.
func (p *Provider) Shared(ctx context.Context, tags map[string]string) ([]family.SharedThing, error) {
	project, err := p.firewallProject()
	if err != nil {
		return nil, err
	}
	all, err := p.rules(ctx, project, "muster-")
	if err != nil {
		return nil, err
	}
	var out []family.SharedThing
	for _, f := range all {
		has := aboutRule(f)
		if has[family.TagInstallation] == "" || !carries(has, tags) {
			continue
		}
		out = append(out, family.SharedThing{ID: kindFirewall + "/" + f.Name, Kind: kindFirewall, Name: f.Name, Tags: has, CreatedAt: when(f.CreationTimestamp)})
	}
	err = p.inZone(ctx, func(z managed) error {
		names, err := records.Shared(ctx, z, tags)
		out = append(out, names...)
		return err
	})
	slices.SortFunc(out, func(a, b family.SharedThing) int { return strings.Compare(a.ID, b.ID) })
	return out, err
}

func aboutRule(f *gcp.Firewall) map[string]string {
	var has map[string]string
	if json.Unmarshal([]byte(f.Description), &has) != nil {
		return nil
	}
	return has
}

// firewallProject is where the account's rules are: with a shared network, in the project that shares it.
func (p *Provider) firewallProject() (string, error) {
	c, err := read(p.settings)
	if err != nil {
		return "", err
	}
	if path := p.networkPath(c); path != "" {
		project, _, _ := in(path)
		return project, nil
	}
	project, _, _ := in(p.subnetworkPath(c, p.zone)) // a subnetwork is in the project of its network
	return project, nil
}

// DeleteShared removes one rule, or one name. While machines of its cluster stand it is kept: they would be open or cut off without it.
func (p *Provider) DeleteShared(ctx context.Context, id string) error {
	if err := p.inZone(ctx, func(z managed) error {
		_, err := records.DropShared(ctx, z, id, func(tags map[string]string) (bool, error) {
			found, err := p.instances(ctx, tags)
			return len(found) > 0, err
		})
		return err
	}); err != nil {
		return err
	}
	name, ok := strings.CutPrefix(id, kindFirewall+"/")
	if !ok || !nameForm.MatchString(name) {
		return nil
	}
	project, err := p.firewallProject()
	if err != nil {
		return err
	}
	f, err := p.api.Firewall(ctx, project, name)
	if err = coded(err); app.CodeOf(err) == app.ENotFound {
		return nil
	}
	if err != nil {
		return err
	}
	of := aboutRule(f)
	if of[family.TagInstallation] == "" {
		return app.Errorf(app.EForbidden, "firewall rule %s isn't Muster's and isn't changed", name)
	}
	users, err := p.instances(ctx, of)
	if err != nil {
		return err
	}
	if len(users) > 0 {
		return app.Errorf(app.ETransient, "firewall rule %s is still used by %s", name, humanize.Count(len(users), "machine"))
	}
	op, err := p.api.DeleteFirewall(ctx, project, name, freshID())
	if err == nil {
		err = p.await(ctx, project, op)
	}
	if err = coded(err); app.CodeOf(err) == app.ENotFound {
		return nil
	}
	return err
}
