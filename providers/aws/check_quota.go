package aws

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"muster/app"
	appfamily "muster/app/family"
	"muster/providers/internal/account"
)

const quotaHint = "Request more vCPUs in Service Quotas, under Amazon EC2, for this region."

// demand is what is needed of one quota.
type demand struct {
	name  string
	vcpus int
	sure  bool // none of it can be had from another quota
}

// quota compares the vCPUs that are needed with the account's quotas, one for each family of instance types and market.
func (s *survey) quota(ctx context.Context, needs appfamily.AccountNeeds) {
	demands := map[string]*demand{}
	var kinds []account.Kind
	for _, need := range needs.Machines {
		o, err := s.cloud.options(need.Flavor, need.Image)
		if err != nil || need.Flavor.Flavor == "" {
			continue
		}
		kind, err := s.kind(ctx, types.InstanceType(need.Flavor.Flavor))
		if err != nil {
			continue
		}
		markets := o.markets()
		f := familyOf(need.Flavor.Flavor)
		code, name := f.quota(markets[0])
		if code == "" {
			s.doubt(appfamily.AboutQuota, need.Flavor.Flavor, fmt.Sprintf("The quota for instance type %s (%d vCPUs) is unknown.", need.Flavor.Flavor, vcpus(kind)), "Check the Amazon EC2 quotas in Service Quotas.")
			continue
		}
		d := demands[code]
		if d == nil {
			d = &demand{name: "vCPUs of " + name, sure: true}
			demands[code] = d
		}
		d.vcpus += need.Count * vcpus(kind)
		d.sure = d.sure && len(markets) == 1
		takes := map[string]float64{}
		if len(markets) == 1 {
			takes[d.name] = float64(vcpus(kind))
		}
		kinds = append(kinds, account.Kind{Name: "type " + need.Flavor.Flavor, Takes: takes})
	}
	if len(demands) == 0 {
		return
	}
	if s.quotas == nil {
		s.unasked(demands, needs.Each, "which isn't used because api_url isn't an AWS endpoint", "Set quotas_url too, or compare with the limits of the instance families yourself.")
		return
	}
	running, err := s.running(ctx)
	if err != nil {
		s.wrong(appfamily.AboutPermissions, "ec2:DescribeInstances", err)
		return
	}
	var limits []account.Quota
	for _, code := range slices.Sorted(maps.Keys(demands)) {
		d := demands[code]
		limit, err := s.quotas(ctx, code)
		switch {
		case ctx.Err() != nil:
			return
		case refusedQuota(err):
			s.unasked(map[string]*demand{code: d}, needs.Each, "which the credentials can't access", "Add servicequotas:GetServiceQuota to the policy, as in docs/providers/aws.md.")
			continue
		case err != nil:
			s.unasked(map[string]*demand{code: d}, needs.Each, "which failed ("+silentQuota(err)+")", "Try again later, or check the Amazon EC2 quotas in Service Quotas.")
			continue
		}
		q := account.Quota{Name: d.name, Limit: limit, Used: float64(running[code])}
		limits = append(limits, q)
		left := account.Number(q.Left()) + " of " + account.Number(limit)
		switch {
		case needs.Each:
			s.right(appfamily.AboutQuota, d.name, "%s in region %s: %s available.", d.name, s.region, left)
		case float64(d.vcpus) <= q.Left():
			s.right(appfamily.AboutQuota, d.name, "%s in region %s: %s available, %d needed.", d.name, s.region, left, d.vcpus)
		case d.sure:
			s.wrong(appfamily.AboutQuota, d.name, hinted(app.Errorf(app.EQuota, "%s in region %s: only %s available, but %d needed.", d.name, s.region, left, d.vcpus), quotaHint))
		default:
			s.doubt(appfamily.AboutQuota, d.name, fmt.Sprintf("%s in region %s: only %s available, but %d needed; the rest will be on-demand.", d.name, s.region, left, d.vcpus), quotaHint)
		}
	}
	if needs.Each {
		s.found = append(s.found, account.Apart(kinds, limits, quotaHint)...)
	}
}

// unasked says what is needed where no one tells what is left.
func (s *survey) unasked(demands map[string]*demand, each bool, why, hint string) {
	for _, code := range slices.Sorted(maps.Keys(demands)) {
		d, needed := demands[code], ""
		if !each {
			needed = fmt.Sprintf("; %d needed", demands[code].vcpus)
		}
		s.doubt(appfamily.AboutQuota, d.name, fmt.Sprintf("The available %s in region %s are unknown without Service Quotas, %s%s.", d.name, s.region, why, needed), hint)
	}
}

// running counts the vCPUs of instances that run, by the code of the quota that counts them. Those of dedicated hosts are counted by the host.
func (s *survey) running(ctx context.Context) (map[string]int, error) {
	all, err := s.cloud.instances(ctx, []types.Filter{{Name: ref("instance-state-name"), Values: []string{"running"}}})
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for _, i := range all {
		if i.Placement != nil && i.Placement.Tenancy == types.TenancyHost {
			continue
		}
		code, _ := familyOf(string(i.InstanceType)).quota(i.InstanceLifecycle == types.InstanceLifecycleTypeSpot)
		if code == "" {
			continue
		}
		n := 0
		if o := i.CpuOptions; o != nil {
			n = int(value(o.CoreCount) * value(o.ThreadsPerCore))
		}
		if n == 0 {
			if kind, err := s.kind(ctx, i.InstanceType); err == nil {
				n = vcpus(kind)
			}
		}
		out[code] += n
	}
	return out, nil
}
