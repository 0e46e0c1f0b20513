package providervalue

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/template"
)

// Store keeps the values of clusters.
type Store interface {
	// ProviderValues returns those of a cluster; nil where it has none.
	ProviderValues(ctx context.Context, tenant, cluster string) (*Kept, error)
	// SetProviderValues replaces them; EConflict where they have changed since k.ChangedAt.
	SetProviderValues(ctx context.Context, who app.Actor, k Kept, changed []string, now time.Time) error
	// ProviderAccounts returns the clusters, of all tenants, that have an account of their own, without their values.
	ProviderAccounts(ctx context.Context) ([]Kept, error)
	Nodes(ctx context.Context, tenant, cluster string) ([]app.Node, error)
	Installation(ctx context.Context) (string, error)
}

// Kept are the values of a cluster.
type Kept struct {
	Tenant, Cluster, Provider string
	Values                    Values
	Account                   bool // they make an account of the cluster's own
	ChangedBy                 string
	ChangedAt                 time.Time
}

// Clusters finds the clusters that an actor may see.
type Clusters interface {
	AuthorizedCluster(ctx context.Context, actor app.Actor, useCase, id string) (app.Cluster, error)
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Store    Store
	Now      func() time.Time
	Catalogs *catalog.Service
	// Clusters is nil until WithClusters.
	Clusters Clusters
	// CheckSpec holds an account to what its type wants, before anything is created; nil: only what is declared is checked.
	CheckSpec func(spec template.ProviderSpec) error
	// Resolve puts a tenant's secrets into a provider's settings.
	Resolve func(ctx context.Context, tenant string, spec template.ProviderSpec) (template.ProviderSpec, error)
	// Resource reads a tenant's resources; nil: there are none.
	Resource Resource
	// List lists the machines of an account that carry tags; nil: replaced credentials aren't tried.
	List func(ctx context.Context, spec template.ProviderSpec, tags map[string]string) ([]family.Machine, error)
}

// Service says what a cluster's users have set for its provider.
type Service struct {
	Config

	mu       sync.Mutex
	accounts map[string]cachedAccount // by cluster
}

type cachedAccount struct {
	at     time.Time // when its values were changed
	values Values
}

// New returns the service on top of its needs.
func New(c Config) *Service { return &Service{Config: c} }

// NewCluster is the cluster of a request, which has no id yet. No id is like it.
const NewCluster = "@new"

// Own is what users have set: of a cluster, or of a request for one.
type Own struct {
	Cluster string
	Values  Values
}

// Fields are the settings of a tenant's provider that users may set; none where it isn't in the catalog.
func (a *Service) Fields(ctx context.Context, tenant, provider string) ([]Field, error) {
	if a == nil {
		return nil, nil
	}
	c, err := a.Catalogs.CatalogOf(ctx, tenant)
	if err != nil {
		return nil, err
	}
	return a.FieldsIn(c, provider), nil
}

// FieldsIn are the settings of a provider in a catalog that users may set.
func (a *Service) FieldsIn(c *template.Catalog, provider string) []Field {
	spec := c.Providers[provider]
	if a == nil || spec == nil || len(spec.Fields) == 0 {
		return nil
	}
	d, known := a.providerType(spec.Type)
	if !known {
		return nil
	}
	return FieldsOf(spec, d)
}

// providerType describes a type of provider; false where it isn't known.
func (a *Service) providerType(kind string) (family.Descriptor, bool) {
	if a.Catalogs.Reader == nil {
		return family.Descriptor{}, false
	}
	return a.Catalogs.Reader.Families().Provider(kind)
}

// Check holds the values of a request to what its provider lets users set, and to what the provider's type wants of its settings. Those of a preview may lack
// what is required.
func (a *Service) Check(ctx context.Context, tenant, provider string, values Values, preview bool) error {
	if a == nil {
		return nil
	}
	fields, err := a.Fields(ctx, tenant, provider)
	if err != nil {
		return err
	}
	if preview {
		fields = slices.Clone(fields)
		for i := range fields {
			fields[i].Required = false
		}
	}
	if err := Check(provider, fields, values); err != nil || len(values) == 0 {
		return err
	}
	if preview && len(a.Missing(ctx, tenant, provider, values)) > 0 {
		return nil
	}
	c, err := a.Catalogs.CatalogOf(ctx, tenant)
	if err != nil {
		return err
	}
	if values, err = a.Pin(ctx, tenant, provider, values); err != nil {
		return err
	}
	return a.checkSpec(a.overlay(*c.Providers[provider], tenant, NewCluster, values))
}

// checkSpec asks the provider's type, and says what it refuses of a value at that value.
func (a *Service) checkSpec(spec template.ProviderSpec) error {
	if a.CheckSpec == nil {
		return nil
	}
	err := a.CheckSpec(spec)
	if err == nil {
		return nil
	}
	e := *app.AsError(err)
	e.Field = "provider_values." + strings.TrimPrefix(e.Field, "settings.")
	e.Message = humanize.Upper(e.Message)
	return &e
}

// Missing names the values that a request still needs.
func (a *Service) Missing(ctx context.Context, tenant, provider string, values Values) (names []string) {
	fields, err := a.Fields(ctx, tenant, provider)
	if err != nil {
		return nil
	}
	for _, f := range fields {
		if f.Required && values[f.Name] == "" {
			names = append(names, f.Name)
		}
	}
	return names
}

func (a *Service) overlay(spec template.ProviderSpec, tenant, cluster string, values Values) template.ProviderSpec {
	d, known := a.providerType(spec.Type)
	if !known {
		return broken(spec, tenant, cluster, "The provider's type isn't known here.")
	}
	return Overlay(spec, d, tenant, cluster, values)
}

// broken is the account of a cluster that can't be opened. It is never the provider's own.
func broken(spec template.ProviderSpec, tenant, cluster, why string) template.ProviderSpec {
	spec.Settings, spec.Tenant = nil, tenant
	spec.Own = &template.ProviderOwn{Cluster: cluster, Credentials: true, Broken: why}
	return spec
}

// IsOwn reports whether values make an account of its own of a provider.
func (a *Service) IsOwn(ctx context.Context, tenant, provider string, values Values) (bool, error) {
	if a == nil || len(values) == 0 {
		return false, nil
	}
	c, err := a.Catalogs.CatalogOf(ctx, tenant)
	if err != nil || c.Providers[provider] == nil {
		return false, err
	}
	return a.overlay(*c.Providers[provider], tenant, NewCluster, values).Own.Cluster != "", nil
}

// With returns a provider as it is for a cluster or a request, with the tenant's secrets in its settings, and what of it no log may show. It is an error where
// the values can't be read: never the provider's own account instead.
func (a *Service) With(ctx context.Context, tenant string, spec template.ProviderSpec, own Own) (template.ProviderSpec, []string, error) {
	if a == nil {
		return spec, nil, nil
	}
	values := own.Values
	if own.Cluster != "" {
		k, err := a.kept(ctx, tenant, own.Cluster)
		if err != nil {
			return spec, nil, err
		}
		if k == nil {
			return spec, nil, nil
		}
		if k.Provider != spec.Name {
			return spec, nil, app.Errorf(app.EInternal, "provider values of cluster %s are those of provider %s, not %s", own.Cluster, k.Provider, spec.Name)
		}
		values = k.Values
	}
	if len(values) == 0 {
		return spec, nil, nil
	}
	cluster := own.Cluster
	if cluster == "" {
		cluster = NewCluster
	}
	out := a.overlay(spec, tenant, cluster, values)
	if out.Own.Broken != "" {
		return out, nil, app.Errorf(app.EInvalid, "%s", out.Own.Broken)
	}
	return out, a.hidden(spec, values), nil
}

// heldValues is the key of the values that a context holds.
type heldValues struct{}

// held are values that were read.
type held struct {
	mu   sync.Mutex
	kept map[[2]string]*Kept // by tenant and cluster
}

// HoldValues returns a context within which the values of a cluster are read once. It is for one message, which may be about many steps.
func HoldValues(ctx context.Context) context.Context {
	return context.WithValue(ctx, heldValues{}, &held{kept: map[[2]string]*Kept{}})
}

// kept returns the values of a cluster; nil where it has none. They aren't changed.
func (a *Service) kept(ctx context.Context, tenant, cluster string) (*Kept, error) {
	h, ok := ctx.Value(heldValues{}).(*held)
	if !ok {
		return a.Store.ProviderValues(ctx, tenant, cluster)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	key := [2]string{tenant, cluster}
	k, known := h.kept[key]
	if known {
		return k, nil
	}
	k, err := a.Store.ProviderValues(ctx, tenant, cluster)
	if err == nil {
		h.kept[key] = k
	}
	return k, err
}

// hidden are the values that no log may show.
func (a *Service) hidden(spec template.ProviderSpec, values Values) (list []string) {
	d, _ := a.providerType(spec.Type)
	fields := FieldsOf(&spec, d)
	for name, v := range values {
		if sensitive(fields, name) {
			list = append(list, v)
		}
	}
	slices.Sort(list)
	return list
}

// sensitive reports whether a value is never shown, as are those of settings that the catalog no longer names.
func sensitive(fields []Field, name string) bool {
	if i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name }); i >= 0 {
		return fields[i].Sensitive
	}
	return true
}

// View is what a cluster's users have set.
type View struct {
	Cluster  string `json:"cluster"`
	Provider string `json:"provider"`
	// OwnAccount says that the machines are in an account of the cluster's users, and not in the provider's.
	OwnAccount bool      `json:"own_account"`
	Values     []Value   `json:"values"`
	ChangedBy  string    `json:"changed_by,omitempty"`
	ChangedAt  time.Time `json:"changed_at,omitzero"`
}

// Value is a setting with its value.
type Value struct {
	Field
	Set   bool   `json:"set"`
	Value string `json:"value,omitempty"` // "" of a sensitive one
}

// Change replaces values of a cluster.
type Change struct {
	Values Values `json:"values"`
}

// ClusterProviderValues returns what a cluster's users have set, and what they may set. Sensitive values are left out.
func (a *Service) ClusterProviderValues(ctx context.Context, actor app.Actor, cluster string) (View, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "ClusterProviderValues", cluster)
	if err != nil {
		return View{}, err
	}
	if err := actor.MayChange("ClusterProviderValues", c); err != nil {
		return View{}, err
	}
	return a.view(ctx, c)
}

func (a *Service) view(ctx context.Context, c app.Cluster) (View, error) {
	v := View{Cluster: c.ID, Provider: c.Provider, Values: []Value{}}
	fields, err := a.Fields(ctx, c.Tenant, c.Provider)
	if err != nil {
		return v, err
	}
	k, err := a.Store.ProviderValues(ctx, c.Tenant, c.ID)
	if err != nil {
		return v, err
	}
	if k == nil {
		k = &Kept{}
	}
	v.OwnAccount, v.ChangedBy, v.ChangedAt = k.Account, k.ChangedBy, k.ChangedAt
	left := maps.Clone(k.Values)
	for _, f := range fields {
		value, set := left[f.Name]
		delete(left, f.Name)
		if f.Sensitive {
			value = ""
		}
		v.Values = append(v.Values, Value{Field: f, Set: set, Value: value})
	}
	for _, name := range left.Names() { // settings that the catalog no longer lets users set
		v.Values = append(v.Values, Value{Field: Field{Name: name, Label: name, Type: family.FieldText, Sensitive: true}, Set: true})
	}
	return v, nil
}

// SetClusterProviderValues replaces values of a cluster, such as credentials that have expired; an empty one is taken away. Its machines stay in the
// account in which they are: EConflict, reason other_account, where the new values open another one.
func (a *Service) SetClusterProviderValues(ctx context.Context, actor app.Actor, cluster string, change Values) (View, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "SetClusterProviderValues", cluster)
	if err != nil {
		return View{}, err
	}
	if err := actor.MayChange("SetClusterProviderValues", c); err != nil {
		return View{}, err
	}
	k, err := a.Store.ProviderValues(ctx, c.Tenant, c.ID)
	if err != nil && !app.IsKeyLost(err) {
		return View{}, err
	}
	if k == nil {
		k = &Kept{Tenant: c.Tenant, Cluster: c.ID, Provider: c.Provider, Account: app.IsKeyLost(err)}
		if c.Status == app.ClusterDeleted {
			return View{}, app.Errorf(app.EConflict, "Cluster %q was deleted, and its machines are gone.", c.Name)
		}
	}
	next, err := a.changed(ctx, c.Tenant, c.Provider, k.Values, change)
	if err != nil {
		return View{}, err
	}
	if err := a.pinChange(ctx, c.Tenant, c.Provider, next, change); err != nil {
		return View{}, err
	}
	if err := a.checkChange(ctx, c, *k, next, change); err != nil {
		return View{}, err
	}
	k.Values = next
	if err := a.Store.SetProviderValues(ctx, actor, *k, change.Names(), a.Now()); err != nil {
		return View{}, err
	}
	return a.view(ctx, c)
}

// checkChange holds what the values would become to the rules of a create, and to the account in which the machines are.
func (a *Service) checkChange(ctx context.Context, c app.Cluster, k Kept, next, change Values) error {
	all, err := a.Catalogs.CatalogOf(ctx, c.Tenant)
	if err != nil {
		return err
	}
	spec := all.Providers[c.Provider]
	if spec == nil {
		return &app.Error{Code: app.EConflict, Message: "Provider " + c.Provider + " is no longer in the catalog.", Hint: "Ask an admin to restore it."}
	}
	fields := a.FieldsIn(all, c.Provider)
	declared := maps.Clone(next)
	for name := range declared {
		if _, changes := change[name]; !changes && !slices.ContainsFunc(fields, func(f Field) bool { return f.Name == name }) {
			delete(declared, name) // set before the catalog changed
		}
	}
	if err := Check(c.Provider, fields, declared); err != nil {
		return err
	}
	after := a.overlay(*spec, c.Tenant, c.ID, next)
	own := after.Own != nil && after.Own.Cluster != ""
	if own != k.Account {
		if own {
			return &app.Error{Code: app.EConflict, Reason: "other_account",
				Message: "This cluster's machines are in the provider's account, so it can't get an account of its own.",
				Hint:    "Create a new cluster with your credentials."}
		}
		return &app.Error{Code: app.EConflict, Reason: "other_account",
			Message: "This cluster's machines are in an account of its own, so its values can't be removed.",
			Hint:    "Replace them instead."}
	}
	if len(next) == 0 {
		return nil
	}
	if err := a.checkSpec(after); err != nil {
		return err
	}
	if !own || a.List == nil {
		return nil
	}
	return a.sameAccount(ctx, c, a.overlay(*spec, c.Tenant, c.ID, k.Values), after)
}

// sameAccount asks the account that new credentials open for the cluster's machines: all must be there. Where none are known, there must be nothing in the
// account of the current ones either: a machine of which the answer was lost would be forgotten there.
func (a *Service) sameAccount(ctx context.Context, c app.Cluster, before, after template.ProviderSpec) error {
	installation, err := a.Store.Installation(ctx)
	if err != nil {
		return err
	}
	nodes, err := a.Store.Nodes(ctx, c.Tenant, c.ID)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	machines, err := a.list(ctx, c, after, installation)
	if err != nil {
		e := app.AsError(err)
		return &app.Error{Code: app.EConflict, Reason: "account_unreachable", Field: "provider_values",
			Message: "The account couldn't be opened with the new values: " + e.ForPeople(),
			Hint:    first(e.Hint, "Check the values and try again. The current ones stay.")}
	}
	known := false
	for _, n := range nodes {
		if n.MachineID == "" || n.Status == app.NodeDeleted || n.Lost() {
			continue
		}
		known = true
		if !slices.ContainsFunc(machines, func(m family.Machine) bool { return m.ID == n.MachineID }) {
			return &app.Error{Code: app.EConflict, Reason: "other_account", Field: "provider_values",
				Message: fmt.Sprintf("The new values open an account without machine %s of node %s.", n.MachineID, n.Name),
				Hint:    "Use credentials of the account in which the cluster was created."}
		}
	}
	if known {
		return nil
	}
	return a.nothingLeft(ctx, c, before, installation)
}

// list lists this installation's machines in an account.
func (a *Service) list(ctx context.Context, c app.Cluster, spec template.ProviderSpec, installation string) (_ []family.Machine, err error) {
	if a.Resolve != nil {
		if spec, err = a.Resolve(ctx, c.Tenant, spec); err != nil {
			return nil, err
		}
	}
	return a.List(ctx, spec, map[string]string{family.TagInstallation: installation})
}

// nothingLeft refuses other credentials for a cluster without known machines while its current account may have some. Credentials that have never opened
// an account can be replaced: a create with them has made nothing.
func (a *Service) nothingLeft(ctx context.Context, c app.Cluster, before template.ProviderSpec, installation string) error {
	refuse := func(message, hint string) error {
		return &app.Error{Code: app.EConflict, Reason: "other_account", Field: "provider_values", Message: message, Hint: hint}
	}
	if c.Status == app.ClusterPending {
		return refuse("An operation of the cluster is using the current values.", "Wait until it ends, or cancel it.")
	}
	machines, err := a.list(ctx, c, before, installation)
	switch {
	case err != nil && (c.Status == app.ClusterDeleted || app.CodeOf(err) != app.ECredentials):
		return refuse("The current account can't be checked for machines of the cluster: "+app.AsError(err).ForPeople(),
			"Make the current values work again, then try again.")
	case slices.ContainsFunc(machines, func(m family.Machine) bool { return m.Tags[family.TagCluster] == c.ID }):
		return refuse("The current account still has machines of the cluster.", "Delete the cluster first, or use credentials of the same account.")
	}
	return nil
}
