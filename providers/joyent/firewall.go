package joyent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/template"
	"muster/providers/joyent/internal/cloudapi"
)

// aboutRule is what a rule's description says, since rules have neither names nor tags. Rule is made of the rule's text: the cloud writes texts its own way.
type aboutRule struct {
	Installation string `json:"muster-installation"`
	Cluster      string `json:"muster-cluster"`
	Rule         string `json:"rule"`
}

func (a aboutRule) tags() map[string]string {
	return map[string]string{family.TagInstallation: a.Installation, family.TagCluster: a.Cluster}
}

// longest is how long a description may be.
const longest = 255

func about(r cloudapi.Rule) (a aboutRule, ours bool) {
	err := json.Unmarshal([]byte(r.Description), &a)
	return a, err == nil && a.Installation != "" && a.Rule != ""
}

func firewallTag(tags map[string]string) string {
	return digest(tags[family.TagInstallation], tags[family.TagCluster])[:20]
}

// wantedRules are the texts of one cluster's rules. What no rule lets in is held back, where a machine's firewall is on.
func wantedRules(spec family.MachineSpec, sshFrom []string) []string {
	to := fmt.Sprintf("tag %q = %q", tagFirewall, firewallTag(spec.Tags))
	var out []string
	for _, what := range []string{"tcp PORT all", "udp PORT all", "icmp TYPE all"} {
		out = append(out, "FROM "+to+" TO "+to+" ALLOW "+what)
	}
	if len(sshFrom) == 0 {
		sshFrom = []string{"0.0.0.0/0"}
	}
	for _, r := range append([]template.FirewallRule{{Protocol: "tcp", Ports: "22", From: sshFrom}}, spec.Firewall.Rules...) {
		what := r.Protocol + " PORT all"
		switch from, to, span := strings.Cut(r.Ports, "-"); {
		case r.Protocol == "icmp":
			what = "icmp TYPE all"
		case span:
			what = r.Protocol + " PORTS " + from + " - " + to
		case r.Ports != "":
			what = r.Protocol + " PORT " + r.Ports
		}
		out = append(out, "FROM "+source(r.From)+" TO "+to+" ALLOW "+what)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func source(prefixes []string) string {
	var parts []string
	for _, text := range prefixes {
		p, err := netip.ParsePrefix(text)
		switch {
		case err != nil, p.Bits() == 0:
			return "any"
		case p.IsSingleIP():
			parts = append(parts, "ip "+p.Addr().String())
		default:
			parts = append(parts, "subnet "+p.Masked().String())
		}
	}
	if slices.Sort(parts); len(parts) == 1 {
		return parts[0]
	}
	return "(" + strings.Join(parts, " OR ") + ")"
}

// ensureFirewall makes the cluster's rules where they are missing, and removes those that are not wanted any more. Nothing keeps the cloud from holding
// a rule twice, so after making some it looks again: of equal ones the one with the smallest id stays, whichever process checks.
func (p *Provider) ensureFirewall(ctx context.Context, spec family.MachineSpec) error {
	p.firewalls.Lock()
	defer p.firewalls.Unlock()
	wanted := map[string]cloudapi.Rule{}
	for _, text := range wantedRules(spec, p.settings.List("ssh_from")) {
		a := aboutRule{Installation: spec.Tags[family.TagInstallation], Cluster: spec.Tags[family.TagCluster], Rule: digest(text)[:12]}
		b, err := json.Marshal(a)
		if err != nil || len(b) > longest {
			return app.Errorf(app.EInvalid, "the names of the installation and the cluster are too long for a firewall rule's description")
		}
		wanted[a.Rule] = cloudapi.Rule{Rule: text, Enabled: true, Description: string(b)}
	}
	made := false
	for range 2 {
		have, surplus, err := p.rulesOf(ctx, spec.Tags, wanted)
		if err != nil {
			return err
		}
		for _, id := range surplus {
			if err := coded(p.api.DeleteRule(ctx, id)); err != nil && app.CodeOf(err) != app.ENotFound {
				return err
			}
		}
		if made {
			return nil
		}
		for _, key := range slices.Sorted(maps.Keys(wanted)) {
			if !have[key] {
				if _, err := p.api.CreateRule(ctx, wanted[key]); err != nil {
					return coded(err)
				}
				made = true
			}
		}
		if !made {
			return nil
		}
	}
	return nil
}

// rulesOf tells which of the wanted rules a cluster has, and the ids of those that it has in vain.
func (p *Provider) rulesOf(ctx context.Context, tags map[string]string, wanted map[string]cloudapi.Rule) (have map[string]bool, surplus []string, err error) {
	all, err := p.api.ListRules(ctx)
	if err != nil {
		return nil, nil, coded(err)
	}
	slices.SortFunc(all, func(a, b cloudapi.Rule) int { return strings.Compare(a.ID, b.ID) })
	have = map[string]bool{}
	for _, r := range all {
		a, ours := about(r)
		if !ours || a.Installation != tags[family.TagInstallation] || a.Cluster != tags[family.TagCluster] {
			continue
		}
		if _, ok := wanted[a.Rule]; ok && r.Enabled && !have[a.Rule] {
			have[a.Rule] = true
		} else {
			surplus = append(surplus, r.ID)
		}
	}
	return have, surplus, nil
}

// kindFirewall is what a rule is called among what a cluster shares.
const kindFirewall = "firewall"

// Shared lists the firewall rules that were made for clusters.
func (p *Provider) Shared(ctx context.Context, tags map[string]string) ([]family.SharedThing, error) {
	all, err := p.api.ListRules(ctx)
	if err != nil {
		return nil, coded(err)
	}
	var out []family.SharedThing
	for _, r := range all {
		if a, ours := about(r); ours && carries(a.tags(), tags) {
			out = append(out, family.SharedThing{ID: kindFirewall + "/" + r.ID, Kind: kindFirewall, Name: r.Rule, Tags: a.tags()})
		}
	}
	slices.SortFunc(out, func(a, b family.SharedThing) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

// DeleteShared removes one rule. While machines of its cluster stand it is kept: they would be cut off without it.
func (p *Provider) DeleteShared(ctx context.Context, id string) error {
	id, ok := strings.CutPrefix(id, kindFirewall+"/")
	if !ok || !uuidForm.MatchString(id) {
		return nil
	}
	all, err := p.api.ListRules(ctx)
	if err != nil {
		return coded(err)
	}
	i := slices.IndexFunc(all, func(r cloudapi.Rule) bool { return r.ID == id })
	if i < 0 {
		return nil
	}
	a, ours := about(all[i])
	if !ours {
		return app.Errorf(app.EForbidden, "firewall rule %s isn't Muster's and isn't changed", id)
	}
	users, err := p.machines(ctx, a.tags())
	if err != nil {
		return err
	}
	if len(users) > 0 {
		return app.Errorf(app.ETransient, "firewall rule %s is still used by %s", id, humanize.Count(len(users), "machine"))
	}
	if err := coded(p.api.DeleteRule(ctx, id)); app.CodeOf(err) != app.ENotFound {
		return err
	}
	return nil
}
