package azure

import "context"

// Sleep deallocates the machine; its disks and its address stay. It returns when Azure has accepted that.
func (g *group) Sleep(ctx context.Context, id string) error {
	vm, err := g.vm(ctx, id)
	if err != nil {
		return err
	}
	if power := powerOf(vm.Properties); power == "deallocated" || power == "deallocating" {
		return nil
	}
	_, err = g.machines.BeginDeallocate(ctx, g.group, id, nil)
	return gone(id, coded(err))
}

// Wake starts the machine. That there is no room for it is reported here.
func (g *group) Wake(ctx context.Context, id string) error {
	for {
		vm, err := g.vm(ctx, id)
		if err != nil {
			return err
		}
		switch powerOf(vm.Properties) {
		case "running", "starting":
			return nil
		case "deallocating", "stopping": // it can be started when it has stopped
			if err := pause(ctx, g.pauses.poll); err != nil {
				return err
			}
			continue
		}
		return gone(id, act(ctx, g, g.machines.BeginStart, id))
	}
}

// gone names the machine where Azure doesn't know it any more.
func gone(id string, err error) error {
	if isAbsent(err) {
		return absent(id)
	}
	return err
}
