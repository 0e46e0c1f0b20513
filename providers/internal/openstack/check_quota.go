package openstack

import (
	"context"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/limits"
	"muster/app"
	"muster/app/family"
	"muster/providers/internal/account"
)

const quotaHint = "Delete what isn't needed, or ask the cloud's operator for a higher quota."

// Wants is what machines take of quotas.
type Wants struct {
	Servers, Cores, MemoryMB, Volumes, VolumeGB, Ports, Floating int
}

func (w Wants) times(n int) Wants {
	return Wants{n * w.Servers, n * w.Cores, n * w.MemoryMB, n * w.Volumes, n * w.VolumeGB, n * w.Ports, n * w.Floating}
}

func (w Wants) plus(o Wants) Wants {
	return Wants{w.Servers + o.Servers, w.Cores + o.Cores, w.MemoryMB + o.MemoryMB, w.Volumes + o.Volumes, w.VolumeGB + o.VolumeGB, w.Ports + o.Ports, w.Floating + o.Floating}
}

// Demand is what is asked of an account: by all machines together or, where the needs say so, by one of each kind for itself.
type Demand struct {
	All    Wants // of all, also where they are looked at one by one
	each   bool
	ones   []Wants
	kinds  []account.Kind
	quotas []account.Quota
}

// add takes in the machines of a need. Where each kind is looked at for itself, an image takes nothing.
func (d *Demand) add(need family.MachineNeed, one Wants) {
	if d.each && need.Flavor.Flavor == "" {
		return
	}
	d.All = d.All.plus(one.times(need.Count))
	if d.each {
		d.ones = append(d.ones, one)
		d.kinds = append(d.kinds, account.Kind{Name: "flavor " + need.Flavor.Flavor, Takes: map[string]float64{}})
	}
}

// Nova compares what Nova has left with what is asked for.
func (d *Demand) Nova(ctx context.Context, s *Session, f *Findings) {
	l, err := limits.Get(ctx, s.Compute, limits.GetOpts{}).Extract()
	if err != nil {
		f.Bad(family.AboutQuota, "", err)
		return
	}
	a := l.Absolute
	d.Left(f, "servers", func(w Wants) int { return w.Servers }, a.MaxTotalInstances, a.TotalInstancesUsed)
	d.Left(f, "CPUs", func(w Wants) int { return w.Cores }, a.MaxTotalCores, a.TotalCoresUsed)
	d.Left(f, "MB of memory", func(w Wants) int { return w.MemoryMB }, a.MaxTotalRAMSize, a.TotalRAMUsed)
}

// Left reports whether enough of something is left; a limit below 0 is none. Of kinds that are looked at for themselves it says only what is left: see Apart.
func (d *Demand) Left(f *Findings, what string, of func(Wants) int, limit, used int) {
	apart := len(d.kinds) > 0
	if apart {
		d.quotas = append(d.quotas, account.Quota{Name: what, Limit: float64(limit), Used: float64(used)})
		for i, k := range d.kinds {
			k.Takes[what] = float64(of(d.ones[i]))
		}
	}
	switch {
	case limit < 0:
		f.Good(family.AboutQuota, what, "The quota doesn't limit %s.", what)
	case !apart && limit-used < max(of(d.All), 1):
		e := app.Errorf(app.EQuota, "the quota allows %d %s: %d are used, and %d more would be needed", limit, what, used, max(of(d.All), 1))
		e.Hint = quotaHint
		f.Bad(family.AboutQuota, what, e)
	default:
		f.Good(family.AboutQuota, what, "The quota allows %d %s: %d used, %d available.", limit, what, used, max(limit-used, 0))
	}
}

// Apart tells of kinds that are looked at for themselves which of them exceed the reported quotas.
func (d *Demand) Apart(f *Findings) {
	*f = append(*f, account.Apart(d.kinds, d.quotas, quotaHint)...)
}
