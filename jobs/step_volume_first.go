package jobs

import (
	"context"
	"fmt"

	"muster/app/execution"
	"muster/app/family"
	"muster/app/volume"
)

// volumesFirst brings the volumes that a machine is created with, where it can't get any later: those that the node had, or else new ones. The node's
// attach step then looks whether the machine has them.
func volumesFirst(ctx context.Context, p family.Provider, as *execution.Assignment, out family.Output, r *execution.Report) ([]volume.Seen, error) {
	if !as.VolumesFirst || len(as.Volumes) == 0 {
		return nil, nil
	}
	power, ok := family.PowerOf[family.Volumes](p)
	if !ok {
		return nil, errNoVolumes(as)
	}
	w := &volumeWork{cloud: p, volumes: power, as: as, out: out, report: r}
	var seen []volume.Seen
	for _, want := range as.Volumes {
		v, err := w.findOrCreate(ctx, want)
		if err == nil && v.Machine != "" {
			err = family.ErrVolumeAttached(v.ID, v.Machine)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: volume %s (%s): %w", as.Provider.Name, want.Name, want.ID, err)
		}
		x := volume.Seen{ID: want.ID, External: v.ID, Zone: v.Zone, SizeGB: v.SizeGB}
		w.see(x)
		seen = append(seen, x)
	}
	return seen, nil
}
