package execution

import (
	"context"
	"sync"
	"time"

	"muster/app/family"
)

// NodeKind is so many nodes of one kind.
type NodeKind struct {
	Hardware, Image, Zone string
	Count                 int
}

// CreateBatch is what an operation has to make at its provider, as the server counted it a moment ago: machines that are being made may
// be among them. Those that come from pools are not.
type CreateBatch struct {
	Machines []family.MachineNeed
	Existing int // nodes of the cluster that had a machine then
}

// countFor is for how long a count is handed out. It takes a look at all steps of an operation, of which many may be claimed in a second.
const countFor = 10 * time.Second

// createBatchCount is what was counted last.
type createBatchCount struct {
	mu   sync.Mutex
	at   time.Time
	last *CreateBatch
}

// together counts what the operation of a create step has to make; nil where it is one machine, or none, and where machines may be of other
// hardware: how many of which there will be is not known beforehand, so each is looked at for itself.
func (oc *operationConfig) createBatch(ctx context.Context, a *Service, c *ClaimedStep) (*CreateBatch, error) {
	if len(oc.definition.FallbackHardware) > 0 {
		return nil, nil
	}
	k := &oc.count
	k.mu.Lock()
	defer k.mu.Unlock()
	now := a.Now()
	if age := now.Sub(k.at); age >= 0 && age < countFor {
		return k.last, nil
	}
	kinds, standing, err := a.Inputs.MachinesToCreate(ctx, c.Tenant, oc.id)
	if err != nil {
		return nil, err
	}
	t, n := &CreateBatch{Existing: standing}, 0
	for _, kind := range kinds {
		n += kind.Count
		t.Machines = append(t.Machines, family.MachineNeed{Count: kind.Count, Flavor: oc.definition.Hardware[kind.Hardware], Image: oc.definition.Images[kind.Image], Zone: kind.Zone})
	}
	if n < 2 {
		t = nil
	}
	k.at, k.last = now, t
	return t, nil
}
