package rackspace

import (
	"context"
	"fmt"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/flavors"
	"muster/app/family"
	stack "muster/providers/internal/openstack"
)

// CheckAccount looks at everything that machines need.
func (p *Provider) CheckAccount(ctx context.Context, needs family.AccountNeeds) ([]family.Finding, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var f stack.Findings
	var wishes []machineOptions
	for _, need := range needs.Machines {
		w, err := machineOptionsOf(p.settings.With(need.Flavor.Extra, need.Image.Extra))
		if err != nil {
			f.Bad(family.AboutSettings, need.Flavor.Flavor, err)
		}
		wishes = append(wishes, w)
		if need.Zone != "" && need.Zone != p.region {
			f.Bad(family.AboutRegion, need.Zone, p.makeable(family.MachineSpec{Zone: need.Zone}))
		}
	}
	session := f.Open(ctx, p.sessions)
	if session == nil {
		return f, nil
	}
	f.Good(family.AboutRegion, p.region, "The account has servers in region %s.", p.region)
	demand := f.Machines(ctx, session, needs, func(i int, flavor flavors.Flavor) stack.Disks { return wishes[i].disks(flavor) }, func(int) (int, int) { return 0, 0 })
	demand.Nova(ctx, session, &f)
	demand.Apart(&f)
	if wants := demand.All; wants.Volumes > 0 {
		if err := session.Needs("block storage", session.Volume); err != nil {
			f.Bad(family.AboutRegion, "volumes", err)
		} else {
			needed := fmt.Sprintf("; %d volumes with %d GB in total needed", wants.Volumes, wants.VolumeGB)
			if needs.Each {
				needed = ""
			}
			f.Doubt(family.AboutQuota, "volumes", "Check the limits of Cloud Block Storage in the control panel.", "The remaining number of volumes is unknown%s.", needed)
		}
	}
	machines := 0
	if !needs.Each { // else each is looked at for itself
		for _, need := range needs.Machines {
			machines += need.Count
		}
	}
	p.nameable(ctx, session, &f, machines)
	return f, nil
}
