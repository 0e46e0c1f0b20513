package catalog

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/family"
	apptemplate "muster/app/template"
)

// Bounds of what is remembered of tenants' catalogs.
const (
	keptCatalogs = 2000        // of tenants with own entries
	catalogFresh = time.Second // how old it may be where being behind does no harm
)

// catalogCache remembers tenants' catalogs, laid over the installation's. What it costs to ask for one is a read of one row.
type catalogCache struct {
	mu   sync.Mutex
	of   map[string]*cachedCatalog
	turn int64
	// The installation's catalog by currency: tenants without own entries share it, and with it what is worked out from it, such as prices.
	base   *apptemplate.Catalog
	priced map[apptemplate.Exchange]*apptemplate.Catalog

	providers providerCache
}

// inCurrency returns the installation's catalog with prices in a currency.
func (c *catalogCache) inCurrency(base *apptemplate.Catalog, e apptemplate.Exchange) *apptemplate.Catalog {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.base != base || len(c.priced) >= keptCatalogs {
		c.base, c.priced = base, map[apptemplate.Exchange]*apptemplate.Catalog{}
	}
	if c.priced[e] == nil {
		c.priced[e] = base.InCurrency(e)
	}
	return c.priced[e]
}

type cachedCatalog struct {
	mu       sync.Mutex // held while it is read again
	base     *apptemplate.Catalog
	revision int64
	exchange apptemplate.Exchange
	raw      *apptemplate.Catalog // with each price in the currency of its provider
	catalog  *apptemplate.Catalog
	looked   time.Time            // when the revision was looked at
	money    apptemplate.Exchange // see Exchange
	asked    time.Time            // when money was looked at
	used     int64
}

// slot returns where a tenant's catalog is remembered. Of too many, those go that were not asked for the longest.
func (c *catalogCache) slot(tenant string) *cachedCatalog {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[string]*cachedCatalog{}
	}
	t := c.of[tenant]
	if t == nil {
		if len(c.of) >= keptCatalogs {
			c.forget()
		}
		t = &cachedCatalog{}
		c.of[tenant] = t
	}
	c.turn++
	t.used = c.turn
	return t
}

func (c *catalogCache) forget() {
	type use struct {
		tenant string
		turn   int64
	}
	all := make([]use, 0, len(c.of))
	for name, t := range c.of {
		all = append(all, use{name, t.used})
	}
	slices.SortFunc(all, func(x, y use) int { return cmp.Compare(x.turn, y.turn) })
	for _, u := range all[:len(all)/4+1] {
		delete(c.of, u.tenant)
	}
}

// triedCatalog is the key of a catalog that is tried out in a context.
type triedCatalog struct{}

// trial is what is tried: a tenant's catalog as it would be.
type trial struct {
	tenant  string
	catalog *apptemplate.Catalog
}

// Trying returns a context in which a tenant's catalog is another one. Nothing is saved by it.
func Trying(ctx context.Context, tenant string, c *apptemplate.Catalog) context.Context {
	return context.WithValue(ctx, triedCatalog{}, trial{tenant, c})
}

// heldCatalog is the key of the catalog that a context holds.
type heldCatalog struct{}

// held is a catalog that was looked up, and whose it is.
type held struct {
	mu       sync.Mutex
	tenant   string
	catalog  *apptemplate.Catalog
	revision int64
}

// HoldCatalog returns a context within which a tenant's catalog is looked up once: what is read from a form, solved, planned and shown goes
// by the same catalog. It is for one request. One that was refused because the catalog has changed needs another context.
func HoldCatalog(ctx context.Context) context.Context {
	if ctx.Value(heldCatalog{}) != nil {
		return ctx
	}
	return context.WithValue(ctx, heldCatalog{}, &held{})
}

// CatalogOf returns the catalog of a tenant: the installation's with the tenant's own entries over it.
func (a *Service) CatalogOf(ctx context.Context, tenant string) (*apptemplate.Catalog, error) {
	c, _, err := a.CatalogAt(ctx, tenant, 0)
	return c, err
}

// CachedCatalogOf is catalogOf where it does no harm to be behind for a moment. It mostly asks no one.
func (a *Service) CachedCatalogOf(ctx context.Context, tenant string) (*apptemplate.Catalog, error) {
	c, _, err := a.CatalogAt(ctx, tenant, catalogFresh)
	return c, err
}

// CatalogAt also returns the revision of the tenant's own entries. It looks at it unless that was done within old, or the context holds one.
func (a *Service) CatalogAt(ctx context.Context, tenant string, old time.Duration) (*apptemplate.Catalog, int64, error) {
	if t, ok := ctx.Value(triedCatalog{}).(trial); ok && t.tenant == tenant {
		exchange, err := a.Exchange(ctx, tenant)
		if err != nil {
			return nil, 0, err
		}
		return t.catalog.InCurrency(exchange), 0, nil
	}
	h, ok := ctx.Value(heldCatalog{}).(*held)
	if !ok {
		return a.lookUpCatalog(ctx, tenant, old)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.catalog != nil && h.tenant == tenant {
		return h.catalog, h.revision, nil
	}
	c, revision, err := a.lookUpCatalog(ctx, tenant, 0)
	if err == nil {
		h.tenant, h.catalog, h.revision = tenant, c, revision
	}
	return c, revision, err
}

func (a *Service) lookUpCatalog(ctx context.Context, tenant string, old time.Duration) (*apptemplate.Catalog, int64, error) {
	base := a.Config.Catalog()
	t := a.catalogs.slot(tenant)
	now := a.Now()
	if c, revision := t.within(base, now, old); c != nil {
		return c, revision, nil
	}
	var revision int64
	var exchange apptemplate.Exchange
	if tenant != "" {
		var err error
		if revision, exchange, err = a.Own.CatalogHead(ctx, tenant); err != nil {
			return nil, 0, err
		}
	}
	exchange = exchange.OrInstallation(a.Currency)
	if a.Reader == nil {
		revision = 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.money, t.asked = exchange, now
	if t.base == base && t.revision == revision && t.exchange == exchange {
		t.looked = now
		return t.catalog, t.revision, nil
	}
	c := t.raw
	if t.base != base || t.revision != revision {
		c = base
		if revision > 0 {
			own, read, err := a.Own.TenantCatalog(ctx, tenant)
			if err != nil {
				return nil, 0, err
			}
			revision = read
			c, _ = a.Reader.Read(base, tenant, textsOf(own))
			// An own template that is made of the installation's may be another one since that has changed.
			if err := a.Versions.RecordTemplates(ctx, tenant, c.TemplatesBeside(base, "muster", a.Now())); err != nil {
				return nil, 0, err
			}
		}
	}
	priced := a.catalogs.inCurrency(base, exchange)
	if c != base {
		priced = c.InCurrency(exchange)
	}
	t.base, t.revision, t.exchange, t.raw, t.catalog, t.looked = base, revision, exchange, c, priced, now
	return t.catalog, revision, nil
}

// Exchange returns the currency in which a tenant sees prices, with its exchange rate; "" is the installation. It mostly asks no one.
func (a *Service) Exchange(ctx context.Context, tenant string) (apptemplate.Exchange, error) {
	if tenant == "" {
		return apptemplate.Exchange{}.OrInstallation(a.Currency), nil
	}
	t, now := a.catalogs.slot(tenant), a.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if ago := now.Sub(t.asked); ago < 0 || ago >= catalogFresh || t.money.Currency == "" {
		_, exchange, err := a.Own.CatalogHead(ctx, tenant)
		if err != nil {
			return exchange, err
		}
		t.money, t.asked = exchange.OrInstallation(a.Currency), now
	}
	return t.money, nil
}

// CurrencyOf returns the currency of Exchange, by ISO 4217.
func (a *Service) CurrencyOf(ctx context.Context, tenant string) (string, error) {
	e, err := a.Exchange(ctx, tenant)
	return e.Currency, err
}

// within returns the catalog where it was looked at so short a time ago; nil where not.
func (t *cachedCatalog) within(base *apptemplate.Catalog, now time.Time, old time.Duration) (*apptemplate.Catalog, int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if ago := now.Sub(t.looked); t.base == base && ago >= 0 && ago < old {
		return t.catalog, t.revision
	}
	return nil, 0
}

func textsOf(own []Revision) []Text {
	texts := make([]Text, 0, len(own))
	for _, r := range own {
		texts = append(texts, r.entry())
	}
	return texts
}

// providerCache remembers the own providers of all tenants.
type providerCache struct {
	mu       sync.Mutex
	revision int64
	list     []*apptemplate.ProviderSpec
}

// TenantProviders returns the own providers of all tenants, for what manages accounts. It costs a read of one row while nothing changes.
// What is given is not changed.
func (a *Service) TenantProviders(ctx context.Context) ([]*apptemplate.ProviderSpec, error) {
	if a.Reader == nil {
		return nil, nil
	}
	o := &a.catalogs.providers
	o.mu.Lock()
	defer o.mu.Unlock()
	revision, err := a.Own.TenantCatalogRevision(ctx, "")
	if err != nil || revision == o.revision {
		return o.list, err
	}
	by, err := a.Own.TenantProviders(ctx)
	if err != nil {
		return nil, err
	}
	var list []*apptemplate.ProviderSpec
	nothing := apptemplate.NewCatalog() // what a provider is hangs on no other entry
	for tenant, own := range by {
		c, _ := a.Reader.Read(nothing, tenant, textsOf(own))
		for _, p := range c.Providers {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(x, y *apptemplate.ProviderSpec) int { return cmp.Compare(x.Account(), y.Account()) })
	o.list, o.revision = list, revision
	return list, nil
}

// OnHost reports whether machines of a type of provider are on Muster's own hosts.
func (a *Service) OnHost(kind string) bool {
	if a.Reader == nil {
		return false
	}
	return slices.ContainsFunc(a.Reader.Families().Providers, func(d family.Descriptor) bool { return d.Name == kind && d.Host })
}

// Guards reports whether machines of a provider are reached only where tenants may reach: those of a provider that a tenant's admin saved, who
// decides what address they have. A provider that is gone may have been one. Machines on Muster's own hosts, where the operator has let
// tenants in, are at private addresses by their nature.
func (a *Service) Guards(ctx context.Context, tenant, provider string) (bool, error) {
	if a.Reader == nil {
		return false, nil // tenants have none of their own
	}
	c, err := a.CatalogOf(ctx, tenant)
	if err != nil {
		return false, err
	}
	spec := c.Providers[provider]
	if spec == nil {
		return true, nil
	}
	return spec.Untrusted && !(a.TenantHostAccess && a.OnHost(spec.Type)), nil
}

// CheckHost refuses to run what a tenant's admin wrote, or pushed as a resource, on machines that are on Muster's own hosts: it would be root there.
// Resources that a cluster has already, among the services of standing, stay.
func (a *Service) CheckHost(c *apptemplate.Catalog, provider string, services, standing map[string]*apptemplate.Service, images map[string]apptemplate.Image, template *apptemplate.Template, hooks []apptemplate.OperationHook) error {
	spec := c.Providers[provider]
	if spec == nil || a.TenantHostAccess || !a.OnHost(spec.Type) {
		return nil
	}
	what := ""
	for _, name := range slices.Sorted(maps.Keys(services)) {
		if s := services[name]; s != nil && s.Untrusted && s.Runs() {
			what = "Service " + name
			break
		}
	}
	has := map[string]bool{}
	for _, s := range standing {
		for _, r := range s.Resources() {
			has[r.Hash] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(services)) {
		for _, r := range services[name].Resources() {
			if what == "" && !r.Trusted && !has[r.Hash] {
				what = "Resource " + r.String() + " of service " + name
			}
		}
	}
	if what == "" && template != nil && template.Untrusted && slices.ContainsFunc(hooks, func(h apptemplate.OperationHook) bool { return h.Script != "" }) {
		what = "A script of template " + template.Name
	}
	if what == "" && template != nil && template.Untrusted && len(template.Actions) > 0 {
		what = "Action " + template.Actions[0].Name + " of template " + template.Name
	}
	for _, name := range slices.Sorted(maps.Keys(images)) {
		if i := c.Images[name]; what == "" && i != nil && i.Untrusted && a.bringsIn(spec, images[name]) {
			what = "Image " + name
		}
	}
	if spec.Untrusted {
		what = "Provider " + spec.Name
	}
	if what == "" {
		return nil
	}
	return &app.Error{Code: app.EForbidden, Reason: "host_access", Field: "provider",
		Message: what + " comes from your tenant, and would run as root on Muster's own hosts, where provider " + provider + " creates machines.",
		Hint:    "Choose another provider, or ask a superadmin to save or push it, or to allow tenant content with --tenant-host-access."}
}

// bringsIn reports whether an image may have something run on the provider's host that no superadmin has put there.
func (a *Service) bringsIn(spec *apptemplate.ProviderSpec, i apptemplate.Image) bool {
	list := a.Reader.Families().Providers
	at := slices.IndexFunc(list, func(d family.Descriptor) bool { return d.Name == spec.Type })
	if at < 0 {
		return false
	}
	d := list[at]
	for _, f := range d.ImageFields {
		if _, said := i.Extra[f.Name]; said && f.Runs {
			return true
		}
	}
	return slices.ContainsFunc(d.Fields, func(f family.Field) bool {
		v, said := spec.Settings[f.Name]
		return f.Runs && said && v != nil && strings.TrimSpace(fmt.Sprint(v)) != "" && strings.TrimSpace(fmt.Sprint(v)) != f.Default
	})
}

// AccountOf returns the name of the account that a tenant's provider is, as far as that is known.
func (a *Service) AccountOf(ctx context.Context, tenant, provider string) string {
	if c, err := a.CachedCatalogOf(ctx, tenant); err == nil && c.Providers[provider] != nil {
		return c.Providers[provider].Account()
	}
	return provider
}
