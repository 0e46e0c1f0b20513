package jobs

import (
	"context"
	"fmt"

	"muster/app/execution"
	"muster/app/family"
)

// setName has the provider's DNS lead from a node's name to its machine, where the account names a zone. A name outside of the zone is notified of, and
// has no record.
func setName(ctx context.Context, p family.Provider, as *execution.Assignment, m family.Machine, out family.Output) error {
	n, ok := family.PowerOf[family.Namer](p)
	if !ok || n.NameZone() == "" {
		return nil
	}
	zone := n.NameZone()
	if !family.InZone(as.Node.Hostname, zone) {
		out(family.StreamSystem, fmt.Sprintf("%s has no DNS record: it isn't in zone %s.", as.Node.Hostname, zone))
		return nil
	}
	m.Hostname, m.Tags = as.Node.Hostname, as.Machine.Tags // the provider may still know those that it had in a pool
	if err := n.SetName(ctx, m); err != nil {
		return fmt.Errorf("%s: name %s: %w", as.Provider.Name, m.Hostname, err)
	}
	out(family.StreamSystem, fmt.Sprintf("%s is in DNS zone %s.", m.Hostname, zone))
	return nil
}
