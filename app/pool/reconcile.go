package pool

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	appplan "muster/app/plan"
	"muster/app/policy"
	"muster/app/template"
)

// StockStore keeps the machines of pools.
type StockStore interface {
	// DuePools returns the pools of all tenants that something is to be done about by now.
	DuePools(ctx context.Context, now time.Time, limit int) ([]Pool, error)
	// EndPool ends a pool that is being deleted and has no machine any more.
	EndPool(ctx context.Context, p Pool, now time.Time) error
	NextClusterNumber(ctx context.Context) (int64, error)
	// PoolMachines returns those that stand, the oldest first; with handed the last so many that were handed out instead, the newest first.
	PoolMachines(ctx context.Context, pool int64, handed int) ([]Machine, error)
	// RestPool notes when a pool is due next, and its trouble, unless something has happened to it since p was read. With a notice, people are notified.
	RestPool(ctx context.Context, p Pool, n *app.Notice) error
	// RetirePoolMachine accepts the delete of one; false, and nothing happens, where it is not the pool's any more or is being deleted.
	RetirePoolMachine(ctx context.Context, n cluster.NewOperation) (bool, error)
	// StockPool accepts the create of a machine of a pool. EConflict, reason "pool_full", where the pool has as many as are wanted, or is not on.
	StockPool(ctx context.Context, pool int64, m NewPoolMachine) error
	// WakePools makes all live pools due.
	WakePools(ctx context.Context, now time.Time) error
}

// ReconcilerConfig is what Reconciler is created from. Only what says so may be nil.
type ReconcilerConfig struct {
	Store StockStore
	Now   func() time.Time
	// Catalog returns the installation's catalog as it is published now. What a tenant sees is that with its own entries over it; see
	// CatalogOf in app/catalog.
	Catalog func() *template.Catalog
	Plans   *cluster.Plans
	Keys    app.Keys

	Pools *Service
}

// Reconciler fills pools, and returns what they have too much.
type Reconciler struct {
	ReconcilerConfig

	pools poolCatalog
}

// NewReconciler returns one on top of what c holds.
func NewReconciler(c ReconcilerConfig) *Reconciler { return &Reconciler{ReconcilerConfig: c} }

// emptied tells that nothing is to stay in the pool.
func (p Pool) emptied() bool { return p.Mode == ModeDrained || p.Mode == ModeDeleted }

// How pools are refilled.
const (
	poolAtOnce     = 10 // machines being created; after a failure one, until one has come up
	poolFirstRetry = 10 * time.Second
	poolLastRetry  = 10 * time.Minute
	poolTellAfter  = 2 // failures in a row, so that no one is woken by one
)

// poolCatalog remembers by which catalog pools were last looked at.
type poolCatalog struct {
	mu   sync.Mutex
	seen *template.Catalog
}

// ReconcilePools does what is due about pools, of all tenants: machines that are lacking are made, those that are too old, too many, of another shape than the
// catalog says by now, or of no use any more are given back. It returns how many machines it began with. A pool is due when something has happened to it, or at a
// time that it knows, so one to which nothing happens costs nothing. Several servers may call it at the same time.
func (a *Reconciler) ReconcilePools(ctx context.Context) (begun int, err error) {
	now := a.Now()
	if err := a.wakePools(ctx, now); err != nil {
		return 0, err
	}
	due, err := a.Store.DuePools(ctx, now, cluster.TidyAtOnce)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, p := range due {
		n, err := a.reconcilePool(ctx, p, now)
		begun += n
		if err != nil {
			errs = append(errs, fmt.Errorf("pool %s of %s: %w", p.Name, p.Tenant, err))
		}
	}
	return begun, errors.Join(errs...)
}

// wakePools has all pools looked at once when there is another catalog.
func (a *Reconciler) wakePools(ctx context.Context, now time.Time) error {
	c := a.Catalog()
	a.pools.mu.Lock()
	defer a.pools.mu.Unlock()
	if a.pools.seen == c {
		return nil
	}
	if err := a.Store.WakePools(ctx, now); err != nil {
		return err
	}
	a.pools.seen = c
	return nil
}

// poolTurn is one look at a pool.
type poolTurn struct {
	app *Reconciler
	Pool
	now      time.Time
	spec     poolSpec
	specErr  error
	stock    []Machine // that are of use: on their way or ready
	underWay int
	begun    int
}

func (a *Reconciler) reconcilePool(ctx context.Context, p Pool, now time.Time) (begun int, err error) {
	t := &poolTurn{app: a, Pool: p, now: now}
	machines, err := a.Store.PoolMachines(ctx, p.ID, 0)
	if err != nil {
		return 0, err
	}
	if p.Mode == ModeDeleted && len(machines) == 0 {
		return 0, a.Store.EndPool(ctx, p, now)
	}
	if t.spec, t.specErr = a.Pools.poolSpec(ctx, p); t.specErr != nil && app.CodeOf(t.specErr) != app.EInvalid && app.AsError(t.specErr).Reason != "no_provisioner" {
		return 0, t.specErr
	}
	if err := t.retire(ctx, machines); err != nil {
		return t.begun, err
	}
	if err := t.refill(ctx); err != nil {
		return t.begun, err
	}
	return t.begun, t.rest(ctx)
}

// retire returns what is of no use.
func (t *poolTurn) retire(ctx context.Context, machines []Machine) error {
	var errs []error
	for _, m := range machines {
		keep := false
		switch m.State {
		case StateDeleting:
			continue
		case StateCreating, StateReady:
			// Where the catalog does not say what a machine would be like now, what is there stays for as long as it may.
			keep = !t.emptied() && (t.specErr != nil || m.Shape == t.spec.shape) && t.now.Before(m.ExpiresAt)
		case StateReserved:
			if !t.emptied() {
				continue
			}
			// A promise may be broken at any time: the machine is made as ever then.
		}
		if keep {
			t.stock = append(t.stock, m)
			continue
		}
		errs = append(errs, t.giveBack(ctx, m))
	}
	// Of too many those go first that are not ready yet, then the oldest.
	slices.SortStableFunc(t.stock, func(x, y Machine) int {
		if (x.State == StateCreating) != (y.State == StateCreating) {
			if x.State == StateCreating {
				return -1
			}
			return 1
		}
		return x.Since.Compare(y.Since)
	})
	for len(t.stock) > t.Count {
		errs = append(errs, t.giveBack(ctx, t.stock[0]))
		t.stock = t.stock[1:]
	}
	for _, m := range t.stock {
		if m.State == StateCreating {
			t.underWay++
		}
	}
	return errors.Join(errs...)
}

// giveBack begins the delete of a machine's cluster, as a person would.
func (t *poolTurn) giveBack(ctx context.Context, m Machine) error {
	plan, err := t.app.Plans.Plan(ctx, t.Tenant, t.Provider, appplan.Request{Kind: app.OperationDelete, Nodes: []appplan.Node{{Name: app.NodeName(1), Zone: m.Zone, Hardware: t.Hardware, Image: t.Image}}})
	if err != nil {
		return err
	}
	did, err := t.app.Store.RetirePoolMachine(ctx, cluster.NewOperation{Operation: app.Operation{Tenant: t.Tenant, Cluster: m.Cluster, Kind: app.OperationDelete, PlanHash: plan.Hash(),
		Requester: poolOwner(t.Name), CreatedAt: t.now, Expected: plan.Duration()}, Plan: plan, Cancel: true})
	if did {
		t.begun++
	}
	return err
}

// refill begins to make what is lacking, as far as it may now.
func (t *poolTurn) refill(ctx context.Context) error {
	full := len(t.stock) >= t.Count
	if t.Mode != ModeOn || full && t.underWay == 0 {
		t.Error, t.ErrorAt, t.RetryAt, t.Failures, t.Notified = "", time.Time{}, time.Time{}, 0, false
	}
	if t.Mode != ModeOn || full {
		return nil
	}
	if t.specErr != nil {
		t.fail(t.specErr)
		return nil //nolint:nilerr // recorded with the pool
	}
	if t.now.Before(t.RetryAt) {
		return nil
	}
	most := poolAtOnce
	if t.Failures > 0 {
		most = 1
	}
	for len(t.stock) < t.Count && t.underWay < most {
		m, err := t.machine(ctx)
		if err != nil {
			return err
		}
		err = t.app.Store.StockPool(ctx, t.ID, m)
		switch e := app.AsError(err); {
		case err == nil:
			t.begun++
			t.underWay++
			t.stock = append(t.stock, Machine{Cluster: m.Cluster.Cluster.ID, State: StateCreating, ExpiresAt: m.ExpiresAt})
		case e.Code == app.EConflict && e.Reason == "pool_full":
			return nil // another server was faster
		case e.Code == app.EInternal || e.Code == app.ETransient || e.Code == app.ETimeout || e.Code == app.ECancelled:
			return err
		default:
			t.fail(err)
			return nil
		}
	}
	return nil
}

// fail notes why the pool is not full, and lets time pass before it is tried again.
func (t *poolTurn) fail(err error) {
	t.Failures++
	t.Error, t.RetryAt = app.AsError(err).ForPeople(), t.now.Add(Retry(t.Failures))
	if t.ErrorAt.IsZero() {
		t.ErrorAt = t.now
	}
}

// Retry is how long nothing is tried after so many failures in a row.
func Retry(failures int) time.Duration {
	return min(poolFirstRetry<<min(max(failures-1, 0), 20), poolLastRetry)
}

// machine makes up the one-node cluster that a machine of the pool is in.
func (t *poolTurn) machine(ctx context.Context) (m NewPoolMachine, err error) {
	number, err := t.app.Store.NextClusterNumber(ctx)
	if err != nil {
		return m, err
	}
	owner := poolOwner(t.Name)
	id := app.ClusterID("pool-"+t.Name, number)
	c := app.Cluster{ID: id, Tenant: t.Tenant, Name: id, Owner: owner, Template: owner, Provider: t.Provider, Size: 1, Services: []string{}, Status: app.ClusterPending,
		CostPerHour: t.spec.price, DNSSuffix: app.DefaultDNSSuffix, CreatedAt: t.now, Pool: t.ID}
	node := app.Node{Cluster: id, Name: app.NodeName(1), Hardware: t.Hardware, Image: t.Image, Zone: t.Zone, Services: []string{}, Status: app.NodePlanned,
		SSHUser: cmp.Or(t.spec.definition.Images[t.Image].SSHUser, "root"), Hostname: app.Hostname(id, app.NodeName(1), app.DefaultDNSSuffix)}
	plan, err := t.app.Plans.Plan(ctx, t.Tenant, t.Provider, appplan.Request{Kind: app.OperationCreate, Nodes: []appplan.Node{{Name: node.Name, Zone: node.Zone, Hardware: t.Hardware, Image: t.Image}}})
	if err != nil {
		return m, err
	}
	n := cluster.NewCluster{Cluster: c, Definition: t.spec.definition, TenantCatalog: t.spec.catalog, Nodes: []app.NewNode{{Node: node, Intent: strings.ToLower(rand.Text())}},
		Operation: cluster.NewOperation{Operation: app.Operation{Tenant: t.Tenant, Cluster: id, Kind: app.OperationCreate, PlanHash: plan.Hash(), Requester: owner, CreatedAt: t.now,
			Expected: plan.Duration()}, Plan: plan}}
	if n.PrivateKey, n.PublicKey, err = t.app.Keys.NewKey("muster " + id); err != nil {
		return m, fmt.Errorf("key of %s: %w", id, err)
	}
	n.Reservation = policy.ReservationOf(c, n.Nodes, t.spec.definition.Hardware, nil)
	n.Reservation.Pool = true
	return NewPoolMachine{Cluster: n, Shape: t.spec.shape, ExpiresAt: t.now.Add(spread(t.MaxAge))}, cluster.GiveHostKeys(t.app.Keys, n.Nodes)
}

// spread takes up to a fifth of an age away, so that machines that were made together are not replaced together.
func spread(age time.Duration) time.Duration {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	return age - time.Duration(float64(age)/5*(float64(binary.BigEndian.Uint64(b[:])>>11)/(1<<53)))
}

// rest notes when there is something to do again: when a machine gets too old, or when it is tried again. All else wakes the pool.
func (t *poolTurn) rest(ctx context.Context) error {
	var due time.Time
	sooner := func(at time.Time) {
		if due.IsZero() || at.Before(due) {
			due = at
		}
	}
	for _, m := range t.stock {
		sooner(m.ExpiresAt)
	}
	if t.Mode == ModeOn && len(t.stock) < t.Count && t.RetryAt.After(t.now) {
		sooner(t.RetryAt)
	}
	t.DueAt = due
	var n *app.Notice
	if t.Mode == ModeOn && t.Failures >= poolTellAfter && !t.Notified {
		t.Notified = true
		n = &app.Notice{At: t.now, Tenant: t.Tenant, Kind: app.NoticePool, Users: []string{t.CreatedBy}, About: app.Subject{Kind: app.SubjectPool, ID: t.Name},
			Title: fmt.Sprintf("Pool %s can't be refilled.", t.Name),
			Text: fmt.Sprintf("%d of %d machines are ready. %s Muster retries at least every %s. Meanwhile, new clusters are created without the pool, which takes longer.",
				len(t.stock)-t.underWay, t.Count, humanize.Cause(t.Error), humanize.Duration(poolLastRetry))}
	}
	return t.app.Store.RestPool(ctx, t.Pool, n)
}
