package identity

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/template"
)

// TenantStore keeps tenants. One that was deleted is ENotFound, and its name is taken forever.
type TenantStore interface {
	ChangeTenant(ctx context.Context, who app.Actor, name string, c TenantChange, at time.Time) (Tenant, error)
	// CreateTenant writes a tenant, its first admin where there is one, and a copy of another tenant's settings.
	CreateTenant(ctx context.Context, who app.Actor, t Tenant, admin *User) error
	// DeleteTenant drops it with its users, tokens and groups; EConflict says what keeps it. Receipts, usage and audit stay.
	DeleteTenant(ctx context.Context, who app.Actor, name string, at time.Time) error
	Tenant(ctx context.Context, name string) (Tenant, error)
	// TenantNames returns only their names, in order.
	TenantNames(ctx context.Context) ([]string, error)
	// Tenants returns them by name, with what they have.
	Tenants(ctx context.Context) ([]Tenant, error)
}

// TenantsConfig is what Tenants is created from. Only what says so may be nil.
type TenantsConfig struct {
	Store    TenantStore
	Now      func() time.Time
	Catalogs *catalog.Service

	Users *Users
}

// Tenants are the parts of the installation.
type Tenants struct {
	TenantsConfig
}

// NewTenants returns them on top of what c holds.
func NewTenants(c TenantsConfig) *Tenants { return &Tenants{TenantsConfig: c} }

// Tenant is a part of the installation that cannot see the others: users, clusters, secrets, workers of its own.
type Tenant struct {
	Name  string `json:"name"`
	About string `json:"about,omitempty"`
	// Slots is how many steps its workers carry out at the same time at most, on all provisioners together; 0: as many as the
	// server says for every tenant.
	Slots int `json:"slots"`
	// RequireSecondFactor says that people who sign in with a password need a second factor.
	RequireSecondFactor bool `json:"require_second_factor"`
	// Currency is that of its prices, budgets and costs, by ISO 4217; "" is the installation's. ExchangeRate is how much of it one unit of the
	// installation's currency buys; 0 where that is the same.
	Currency     string    `json:"currency,omitempty"`
	ExchangeRate float64   `json:"exchange_rate,omitempty"`
	CreatedAt    time.Time `json:"created_at,omitzero"` // zero: it was there before tenants were written down
	CreatedBy    string    `json:"created_by,omitempty"`
	From         string    `json:"from,omitempty"` // the tenant whose settings it began with
	// What it has at the moment.
	Users        int `json:"users"`
	Clusters     int `json:"clusters"`      // that are not deleted
	SlotsGranted int `json:"slots_granted"` // by the balance between tenants
}

// TenantChange changes a tenant. What is nil stays.
type TenantChange struct {
	About *string `json:"about,omitempty"`
	Slots *int    `json:"slots,omitempty"`
	// Currency "" is the installation's. It can't change once the tenant has costs.
	Currency     *string  `json:"currency,omitempty"`
	ExchangeRate *float64 `json:"exchange_rate,omitempty"`
}

// NewTenant is a tenant about to be made.
type NewTenant struct {
	Name  string   `json:"name"`
	About string   `json:"about,omitempty"`
	Slots int      `json:"slots,omitempty"`
	From  string   `json:"from,omitempty"`  // a tenant whose settings are copied
	Admin *NewUser `json:"admin,omitempty"` // its first admin; the role is admin whatever it says
	// Currency "" is the installation's; any other needs the exchange rate, as in Tenant.
	Currency     string  `json:"currency,omitempty"`
	ExchangeRate float64 `json:"exchange_rate,omitempty"`
}

// TenantLeftovers is what keeps a tenant from being deleted: all that may still stand in a cloud.
type TenantLeftovers struct {
	Live     []string // clusters, by name and id
	Unproven []string // deleted clusters of which it is not proven that nothing is left
	Orphans  []string // orphaned machines
	Intents  []string // nodes of deleted clusters whose machine may stand
	Requests []string // that wait for someone
}

// Nothing tells that nothing keeps it.
func (l TenantLeftovers) Nothing() bool {
	return len(l.Live)+len(l.Unproven)+len(l.Orphans)+len(l.Intents)+len(l.Requests) == 0
}

// Refusal says what is left, by number and name.
func (l TenantLeftovers) Refusal(tenant string) error {
	var parts []string
	say := func(names []string, one, many string) {
		if len(names) == 0 {
			return
		}
		what := many
		if len(names) == 1 {
			what = one
		}
		const shown = 10
		list := strings.Join(names[:min(len(names), shown)], ", ")
		if more := len(names) - shown; more > 0 {
			list += fmt.Sprintf(" and %d more", more)
		}
		parts = append(parts, fmt.Sprintf("%d %s (%s)", len(names), what, list))
	}
	say(l.Live, "cluster", "clusters")
	say(l.Unproven, "deleted cluster without a final receipt", "deleted clusters without a final receipt")
	say(l.Orphans, "orphaned machine", "orphaned machines")
	say(l.Intents, "node whose machine may still exist", "nodes whose machines may still exist")
	say(l.Requests, "pending request", "pending requests")
	return &app.Error{Code: app.EConflict, Reason: "not_empty", Message: fmt.Sprintf("Tenant %q can't be deleted yet: %s.", tenant, strings.Join(parts, "; ")),
		Hint: "Delete the clusters, decide on the orphaned machines, then wait for the reconciler to confirm the deletions. It runs every 10 min."}
}

// Names of tenants can be a label of a host name, and must not be taken for something else in an address or a message.
var (
	tenantName      = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)
	reservedTenants = []string{"admin", "all", "any", "api", "installation", "local", "me", "muster", "new", "none", "self", "server", "static", "system", "tenant", "tenants"}
)

func CheckTenantName(name string) error {
	switch {
	case !tenantName.MatchString(name):
		return &app.Error{Code: app.EInvalid, Field: "name", Message: "Name must be 1 to 63 lowercase letters, digits or '-', start with a letter and not end with '-'.",
			Hint: "For example research or team-blue."}
	case slices.Contains(reservedTenants, name):
		return &app.Error{Code: app.EInvalid, Field: "name", Message: fmt.Sprintf("%q is a reserved name.", name), Hint: "Choose another name."}
	}
	return nil
}

func CheckSlots(n int) error {
	if n < 0 || n > app.MaxSlots {
		return &app.Error{Code: app.EInvalid, Field: "slots", Message: fmt.Sprintf("Slots must be from 1 to %d, or 0 for the server's default; not %d.", app.MaxSlots, n)}
	}
	return nil
}

func errNoTenant(name string) error {
	return app.Errorf(app.ENotFound, "Tenant %q doesn't exist.", name)
}

// Tenants lists the tenants of the installation by name.
func (a *Tenants) Tenants(ctx context.Context, actor app.Actor) ([]Tenant, error) {
	if err := actor.Authorize("Tenants"); err != nil {
		return nil, err
	}
	return a.Store.Tenants(ctx)
}

// TenantNames returns the names of all tenants in which the actor may act.
func (a *Tenants) TenantNames(ctx context.Context, actor app.Actor) ([]string, error) {
	if err := actor.Authorize("TenantNames"); err != nil {
		return nil, err
	}
	return a.Store.TenantNames(ctx)
}

// Tenant shows one. Admins see their own; another one is for them as if it were not there.
func (a *Tenants) Tenant(ctx context.Context, actor app.Actor, name string) (Tenant, error) {
	if err := actor.Authorize("Tenant"); err != nil {
		return Tenant{}, err
	}
	if name != actor.Tenant && actor.Role != app.RoleSuperadmin {
		return Tenant{}, errNoTenant(name)
	}
	return a.Store.Tenant(ctx, name)
}

// CreateTenant makes a tenant, and its first admin where one is named, whose one-time password it returns; else "".
func (a *Tenants) CreateTenant(ctx context.Context, actor app.Actor, n NewTenant) (t Tenant, password string, err error) {
	if err := actor.Authorize("CreateTenant"); err != nil {
		return t, "", err
	}
	if err := CheckTenantName(n.Name); err != nil {
		return t, "", err
	}
	if err := CheckText("about", n.About, app.LongestAbout); err != nil {
		return t, "", err
	}
	if err := CheckSlots(n.Slots); err != nil {
		return t, "", err
	}
	if n.From != "" {
		if n, err = a.inCurrencyOf(ctx, n); err != nil {
			return t, "", err
		}
	}
	if err := a.checkExchange(n.Currency, n.ExchangeRate); err != nil {
		return t, "", err
	}
	if err := a.Catalogs.CheckFirstTenant(ctx); err != nil {
		return t, "", err
	}
	var admin *User
	if n.Admin != nil {
		if err := actor.MustStepUp(); err != nil {
			return t, "", err
		}
		n.Admin.Role = app.RoleAdmin
		u, err := a.Users.DraftUser(actor, n.Name, *n.Admin)
		if err != nil {
			return t, "", within("admin", err)
		}
		password = NewPassword()
		u.PasswordHash, u.MustChange = HashPassword(password), true
		admin = &u
	}
	t = Tenant{Name: n.Name, About: n.About, Slots: n.Slots, From: n.From, CreatedAt: a.Now(), CreatedBy: actor.Name(),
		Currency: n.Currency, ExchangeRate: n.ExchangeRate}
	if err := a.Store.CreateTenant(ctx, actor, t, admin); err != nil {
		return t, "", err
	}
	t, err = a.Store.Tenant(ctx, n.Name)
	return t, password, err
}

// inCurrencyOf sets a tenant's currency to that of the one whose budgets are copied.
func (a *Tenants) inCurrencyOf(ctx context.Context, n NewTenant) (NewTenant, error) {
	from, err := a.Store.Tenant(ctx, n.From)
	switch {
	case app.CodeOf(err) == app.ENotFound:
		return n, nil // refused where it is copied
	case err != nil:
		return n, err
	case n.Currency == "" && n.ExchangeRate == 0:
		n.Currency, n.ExchangeRate = from.Currency, from.ExchangeRate
	case n.Currency != from.Currency:
		return n, &app.Error{Code: app.EInvalid, Field: "currency", Message: fmt.Sprintf("A copy of tenant %s has its currency, because its budgets are copied too.", n.From),
			Hint: "Leave out the currency, or create the tenant without copying."}
	}
	return n, nil
}

// checkExchange refuses a currency of a tenant that isn't one, or whose exchange rate is missing.
func (a *Tenants) checkExchange(currency string, rate float64) error {
	return template.CheckExchange(currency, rate, a.Catalogs.Currency)
}

// within puts the name of a part before the field of an error.
func within(part string, err error) error {
	if e := app.AsError(err); e.Field != "" {
		named := *e
		named.Field = part + "." + e.Field
		return &named
	}
	return err
}

// ChangeTenant changes what is said about a tenant, and its slots.
func (a *Tenants) ChangeTenant(ctx context.Context, actor app.Actor, name string, c TenantChange) (Tenant, error) {
	if err := actor.Authorize("ChangeTenant"); err != nil {
		return Tenant{}, err
	}
	if c.About != nil {
		if err := CheckText("about", *c.About, app.LongestAbout); err != nil {
			return Tenant{}, err
		}
	}
	if c.Slots != nil {
		if err := CheckSlots(*c.Slots); err != nil {
			return Tenant{}, err
		}
	}
	if c.Currency != nil || c.ExchangeRate != nil {
		is, err := a.Store.Tenant(ctx, name)
		if err != nil {
			return Tenant{}, err
		}
		if c.Currency == nil {
			c.Currency = &is.Currency
		} else if *c.Currency != is.Currency && c.ExchangeRate == nil {
			c.ExchangeRate = new(float64) // that of another currency is none
		}
		if c.ExchangeRate == nil {
			c.ExchangeRate = &is.ExchangeRate
		}
		if err := a.checkExchange(*c.Currency, *c.ExchangeRate); err != nil {
			return Tenant{}, err
		}
	}
	return a.Store.ChangeTenant(ctx, actor, name, c, a.Now())
}

// DeleteTenant drops a tenant of which nothing is left in any cloud, with its users, tokens and groups. Its name is never given
// again, since its receipts, usage and audit stay.
func (a *Tenants) DeleteTenant(ctx context.Context, actor app.Actor, name string) error {
	if err := actor.Authorize("DeleteTenant"); err != nil {
		return err
	}
	if name == app.DefaultTenant {
		return &app.Error{Code: app.EConflict, Reason: "default", Message: fmt.Sprintf("Tenant %q can't be deleted: the installation's superadmins have accounts there.", name)}
	}
	return a.Store.DeleteTenant(ctx, actor, name, a.Now())
}

// ActIn returns the actor as it acts in another tenant. Only superadmins may; others do not learn whether there is such a one.
func (a *Tenants) ActIn(ctx context.Context, actor app.Actor, tenant string) (app.Actor, error) {
	if err := actor.Authorize("ActIn"); err != nil {
		return actor, err
	}
	if tenant == actor.Tenant {
		return actor, nil
	}
	if _, err := a.Store.Tenant(ctx, tenant); err != nil {
		return actor, err
	}
	if actor.Home == "" {
		actor.Home = actor.Tenant
	}
	actor.Tenant, actor.Groups = tenant, nil
	if actor.Home == tenant {
		actor.Home = ""
	}
	return actor, nil
}
