package aws

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"muster/app"
	appfamily "muster/app/family"
	"muster/app/template"
)

// tagMade tells when a group was made, which EC2 does not.
const tagMade = "muster-made-at"

// ours is the description of rules that Muster made. Rules that someone else added to a group are left alone.
const ours = "muster"

// groupName returns the name of a cluster's group. Names are unique within a VPC: two that are made at once cannot both be.
func groupName(installation, cluster string) string {
	whole := "muster-" + installation + "-" + cluster
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_' {
			return r
		}
		return '-'
	}, whole)
	if clean == whole && len(whole) <= 255 && !strings.ContainsAny(installation, "-") {
		return whole
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", installation, cluster))
	return clean[:min(len(clean), 200)] + "-" + hex.EncodeToString(sum[:6])
}

// firewalls are the security groups of clusters.
type firewalls struct {
	ec2    *calls
	tuning tuning
}

// ensure returns the group of the spec's cluster, with the rules that it should have.
func (f *firewalls) ensure(ctx context.Context, w wanted, vpc string) (string, error) {
	wants, err := rulesOf(*w.spec.Firewall, w.options.sshFrom)
	if err != nil {
		return "", err
	}
	installation, cluster := w.spec.Tags[appfamily.TagInstallation], w.spec.Tags[appfamily.TagCluster]
	name := groupName(installation, cluster)
	group, err := f.find(ctx, vpc, name)
	if err != nil {
		return "", err
	}
	if group == nil {
		tags := appfamily.LabelsAmong(w.spec.Tags)
		for _, k := range []string{appfamily.TagTenant, appfamily.TagOwner, appfamily.TagClusterName} {
			if v := w.spec.Tags[k]; v != "" {
				tags[k] = v
			}
		}
		tags[appfamily.TagInstallation], tags[appfamily.TagCluster], tags[tagMade] = installation, cluster, time.Now().UTC().Format(time.RFC3339)
		_, err := f.ec2.createSecurityGroup(ctx, &ec2.CreateSecurityGroupInput{GroupName: &name, VpcId: &vpc, Description: ref("Machines of one Muster cluster"),
			TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeSecurityGroup, Tags: tagged(tags)}}})
		if err != nil && !because(err, "InvalidGroup.Duplicate") {
			return "", err
		}
		if group, err = f.findSoon(ctx, vpc, name); err != nil {
			return "", err
		}
	}
	if has := tagsFrom(group.Tags); has[appfamily.TagInstallation] != installation || has[appfamily.TagCluster] != cluster {
		return "", hinted(app.Errorf(app.EConflict, "Security group %s (%s) wasn't created by Muster for this cluster.", name, value(group.GroupId)), "Rename or delete it.")
	}
	return value(group.GroupId), f.setRules(ctx, group, wants)
}

// find finds a group by its name; nil where there is none.
func (f *firewalls) find(ctx context.Context, vpc, name string) (*types.SecurityGroup, error) {
	out, err := f.ec2.describeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: []types.Filter{
		{Name: ref("vpc-id"), Values: []string{vpc}}, {Name: ref("group-name"), Values: []string{name}}}})
	if err != nil || len(out.SecurityGroups) == 0 {
		return nil, err
	}
	return &out.SecurityGroups[0], nil
}

// findSoon finds a group that was just made, maybe by someone else.
func (f *firewalls) findSoon(ctx context.Context, vpc, name string) (group *types.SecurityGroup, err error) {
	const unknown = "InvalidGroup.NotFound"
	err = f.tuning.patiently(ctx, func() (err error) {
		if group, err = f.find(ctx, vpc, name); err == nil && group == nil {
			err = &app.Error{Code: app.ETransient, Reason: unknown, Message: fmt.Sprintf("EC2 doesn't list security group %s yet.", name)}
		}
		return err
	}, unknown)
	return group, err
}

// setRules adds the rules that are missing, and takes away those that Muster made and that are not wanted any more.
func (f *firewalls) setRules(ctx context.Context, g *types.SecurityGroup, wants []rule) error {
	wants = append(wants, rule{protocol: "-1", from: -1, to: -1, source: value(g.GroupId)})
	has := rulesFrom(g.IpPermissions)
	var missing, spare []types.IpPermission
	for _, r := range wants {
		if !slices.ContainsFunc(has, func(h rule) bool { return h.same(r) }) {
			missing = append(missing, r.permission())
		}
	}
	for _, h := range has {
		if h.ours && !slices.ContainsFunc(wants, h.same) {
			spare = append(spare, h.permission())
		}
	}
	add := func(ps []types.IpPermission) error {
		return f.tuning.patiently(ctx, func() error {
			_, err := f.ec2.authorizeIngress(ctx, &ec2.AuthorizeSecurityGroupIngressInput{GroupId: g.GroupId, IpPermissions: ps})
			return err
		}, "InvalidGroup.NotFound")
	}
	if len(missing) > 0 {
		err := add(missing)
		if because(err, "InvalidPermission.Duplicate") { // someone else is adding them too: then all but the known ones
			for _, p := range missing {
				if err = add([]types.IpPermission{p}); because(err, "InvalidPermission.Duplicate") {
					err = nil
				}
				if err != nil {
					break
				}
			}
		}
		if err != nil {
			return unknownYet(err)
		}
	}
	if len(spare) > 0 {
		_, err := f.ec2.revokeIngress(ctx, &ec2.RevokeSecurityGroupIngressInput{GroupId: g.GroupId, IpPermissions: spare})
		if err != nil && !because(err, "InvalidPermission.NotFound") {
			return err
		}
	}
	return nil
}

// unknownYet returns the error for a group of our own that EC2 still does not know.
func unknownYet(err error) error {
	if because(err, "InvalidGroup.NotFound") {
		return app.Errorf(app.ETransient, "EC2 doesn't know the cluster's security group yet: %s", app.AsError(err).Message)
	}
	return err
}

// rule is one rule of a group: from one source, for one range of ports.
type rule struct {
	protocol string
	from, to int32  // -1 for all
	source   string // a prefix or a group
	ours     bool
}

func (r rule) same(o rule) bool {
	return r.protocol == o.protocol && r.from == o.from && r.to == o.to && r.source == o.source
}

// rulesOf returns the rules of a firewall, with SSH; EInvalid for what is not one.
func rulesOf(f template.Firewall, sshFrom []netip.Prefix) (out []rule, err error) {
	add := func(r rule) {
		if !slices.ContainsFunc(out, r.same) {
			out = append(out, r)
		}
	}
	for _, p := range sshFrom {
		add(rule{protocol: "tcp", from: 22, to: 22, source: p.String()})
	}
	for _, r := range f.Rules {
		from, to := int32(-1), int32(-1)
		switch r.Protocol {
		case "tcp", "udp":
			if from, to, err = ports(r.Ports); err != nil {
				return nil, err
			}
		case "icmp":
		default:
			return nil, app.Errorf(app.EInvalid, "Firewall rules support tcp, udp and icmp, not %q.", r.Protocol)
		}
		if len(r.From) == 0 {
			return nil, app.Errorf(app.EInvalid, "The firewall rule for %s %s has no sources.", r.Protocol, r.Ports)
		}
		for _, text := range r.From {
			p, err := netip.ParsePrefix(text)
			if err != nil {
				return nil, app.Errorf(app.EInvalid, "%q isn't a CIDR range. For example, 203.0.113.0/24.", text)
			}
			protocol := r.Protocol
			if protocol == "icmp" && p.Addr().Is6() {
				protocol = "icmpv6"
			}
			add(rule{protocol: protocol, from: from, to: to, source: p.Masked().String()})
		}
	}
	return out, nil
}

func ports(text string) (from, to int32, err error) {
	low, high, ranged := strings.Cut(text, "-")
	if !ranged {
		high = low
	}
	a, errA := strconv.ParseUint(strings.TrimSpace(low), 10, 16)
	b, errB := strconv.ParseUint(strings.TrimSpace(high), 10, 16)
	if errA != nil || errB != nil || a > b {
		return 0, 0, app.Errorf(app.EInvalid, "%q isn't a port or a port range. For example, 8000-8100.", text)
	}
	return int32(a), int32(b), nil
}

// permission returns a rule in EC2's form.
func (r rule) permission() types.IpPermission {
	p := types.IpPermission{IpProtocol: &r.protocol}
	if r.protocol != "-1" {
		p.FromPort, p.ToPort = &r.from, &r.to
	}
	switch {
	case strings.HasPrefix(r.source, "sg-"):
		p.UserIdGroupPairs = []types.UserIdGroupPair{{GroupId: &r.source, Description: ref(ours)}}
	case strings.Contains(r.source, ":"):
		p.Ipv6Ranges = []types.Ipv6Range{{CidrIpv6: &r.source, Description: ref(ours)}}
	default:
		p.IpRanges = []types.IpRange{{CidrIp: &r.source, Description: ref(ours)}}
	}
	return p
}

// rulesFrom returns a group's permissions one by one.
func rulesFrom(ps []types.IpPermission) (out []rule) {
	for _, p := range ps {
		r := rule{protocol: value(p.IpProtocol), from: -1, to: -1}
		if p.FromPort != nil && r.protocol != "-1" {
			r.from, r.to = *p.FromPort, value(p.ToPort)
		}
		add := func(source, description *string) {
			r.source, r.ours = value(source), value(description) == ours
			out = append(out, r)
		}
		for _, x := range p.IpRanges {
			add(x.CidrIp, x.Description)
		}
		for _, x := range p.Ipv6Ranges {
			add(x.CidrIpv6, x.Description)
		}
		for _, x := range p.UserIdGroupPairs {
			add(x.GroupId, x.Description)
		}
	}
	return out
}
