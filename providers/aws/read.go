package aws

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"muster/app"
	appfamily "muster/app/family"
)

func (c *cloud) Describe(ctx context.Context, id string) (appfamily.Machine, error) {
	i, err := c.instance(ctx, id)
	if err != nil {
		return appfamily.Machine{}, err
	}
	return machine(i), nil
}

func (c *cloud) List(ctx context.Context, tags map[string]string) ([]appfamily.Machine, error) {
	filters := append(tagFilters(tags), types.Filter{Name: ref("instance-state-name"), Values: []string{"pending", "running", "stopping", "stopped"}})
	found, err := c.instances(ctx, filters)
	if err != nil {
		return nil, err
	}
	out := make([]appfamily.Machine, 0, len(found))
	for _, i := range found {
		if !gone(i) && carries(tagsFrom(i.Tags), tags) {
			out = append(out, machine(i))
		}
	}
	slices.SortFunc(out, func(a, b appfamily.Machine) int { return strings.Compare(a.ID, b.ID) })
	if tags[appfamily.TagIntent] == "" { // steps ask for one machine, and want to know no more than whether it is there
		c.announce(ctx, found, out)
	}
	return out, nil
}

// instance returns an instance that exists; ENotFound for any other.
func (c *cloud) instance(ctx context.Context, id string) (types.Instance, error) {
	if err := ctx.Err(); err != nil {
		return types.Instance{}, err
	}
	if !instanceForm.MatchString(id) {
		return types.Instance{}, absent(id)
	}
	out, err := c.ec2.describeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	if err != nil {
		if app.CodeOf(err) == app.ENotFound {
			return types.Instance{}, absent(id)
		}
		return types.Instance{}, err
	}
	for _, r := range out.Reservations {
		for _, i := range r.Instances {
			switch {
			case value(i.InstanceId) != id:
			case gone(i):
				return types.Instance{}, app.Errorf(app.ENotFound, "Instance %s no longer exists%s.", id, reasonOf(i))
			default:
				return i, nil
			}
		}
	}
	return types.Instance{}, absent(id)
}

func absent(id string) error {
	return app.Errorf(app.ENotFound, "Instance %q doesn't exist in this account and region.", id)
}

// instances returns all that the filters let through, from every page.
func (c *cloud) instances(ctx context.Context, filters []types.Filter) (found []types.Instance, err error) {
	err = pages(func(token *string) (*string, error) {
		out, err := c.ec2.describeInstances(ctx, &ec2.DescribeInstancesInput{Filters: filters, MaxResults: &c.tuning.page, NextToken: token})
		if err != nil {
			return nil, err
		}
		for _, r := range out.Reservations {
			found = append(found, r.Instances...)
		}
		return out.NextToken, nil
	})
	return found, err
}

// standing returns the machine of an intent, nil where there is none, and the client tokens of those that were deleted and that EC2 still shows.
func (c *cloud) standing(ctx context.Context, spec appfamily.MachineSpec) (m *types.Instance, used []string, err error) {
	found, err := c.instances(ctx, tagFilters(map[string]string{appfamily.TagInstallation: spec.Tags[appfamily.TagInstallation], appfamily.TagIntent: spec.Intent}))
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(found, func(a, b types.Instance) int {
		return cmp.Or(madeAt(a).Compare(madeAt(b)), strings.Compare(value(a.InstanceId), value(b.InstanceId)))
	})
	for _, i := range found {
		switch {
		case gone(i):
			used = append(used, value(i.ClientToken))
		case m == nil:
			m = &i
		}
	}
	return m, used, nil
}

// tagFilters has EC2 look for tags itself. Its values are patterns, so that what they are made of is escaped; and it takes no empty ones.
func tagFilters(tags map[string]string) []types.Filter {
	out := make([]types.Filter, 0, len(tags)+1)
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		if tags[k] == "" {
			out = append(out, types.Filter{Name: ref("tag-key"), Values: []string{escaped.Replace(k)}})
			continue
		}
		out = append(out, types.Filter{Name: ref("tag:" + k), Values: []string{escaped.Replace(tags[k])}})
	}
	return out
}

var escaped = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`)

// carries reports whether all of the tags are there.
func carries(has, wanted map[string]string) bool {
	for k, v := range wanted {
		if got, ok := has[k]; !ok || got != v {
			return false
		}
	}
	return true
}
