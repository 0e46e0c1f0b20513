package suite

import (
	"muster/app/store/storetest/activity"
	"slices"
	"testing"

	"muster/app/store"
	"muster/app/store/storetest/build"
	"muster/app/store/storetest/catalog"
	"muster/app/store/storetest/chat"
	"muster/app/store/storetest/cluster"
	"muster/app/store/storetest/execution"
	"muster/app/store/storetest/fleet"
	"muster/app/store/storetest/health"
	"muster/app/store/storetest/identity"
	"muster/app/store/storetest/image"
	"muster/app/store/storetest/kit"
	"muster/app/store/storetest/notification"
	"muster/app/store/storetest/operation"
	"muster/app/store/storetest/policy"
	"muster/app/store/storetest/pool"
	"muster/app/store/storetest/resource"
	"muster/app/store/storetest/terminal"
	"muster/app/store/storetest/update"
	"muster/app/store/storetest/volume"
	"muster/app/store/storetest/webhook"
)

// StoreSuite is what every store passes. open returns a fresh, empty store that the test closes.
func StoreSuite(t *testing.T, open func(t *testing.T) *store.Store) {
	kit.Run(t, alone(open), slices.Concat(execution.Cases, cluster.Cases, operation.Cases, update.Cases, policy.Cases, catalog.Cases, identity.Cases,
		fleet.Cases, health.Cases, pool.Cases, webhook.Cases, build.Cases, resource.Cases, chat.Cases, volume.Cases, image.Cases,
		notification.Cases, terminal.Cases, activity.Cases))
}

// UpdateSuite is what every store makes of updates of active clusters.
func UpdateSuite(t *testing.T, open func(t *testing.T) *store.Store) {
	kit.Run(t, alone(open), update.Updates)
}

// ProvisionerSuite is what every store passes that keeps provisioners.
func ProvisionerSuite(t *testing.T, open func(t *testing.T) *store.Store) {
	kit.Run(t, alone(open), fleet.Provisioners)
}

// MoneySuite is what every store keeps of quotas, leases and metering. open returns the servers of a fresh database: one, or several
// that share it.
func MoneySuite(t *testing.T, open func(t *testing.T) []*store.Store) { kit.Run(t, open, policy.Money) }

// alone opens a store that no other server shares.
func alone(open func(t *testing.T) *store.Store) func(t *testing.T) []*store.Store {
	return func(t *testing.T) []*store.Store { return []*store.Store{open(t)} }
}
