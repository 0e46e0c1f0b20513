package settings

import (
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/build"
	"muster/app/catalog"
	"muster/app/humanize"
	"muster/app/policy"
	"muster/app/pool"
	"muster/app/template"
	"muster/app/webhook"
)

// TenantForm is the version of the form in which a tenant's settings are written down. Another number is refused: what it would mean is
// not known.
const TenantForm = 1

// Bounds of what a tenant's settings are brought in from.
const (
	MaxTenantFile = 16 << 20 // bytes of the file
	maxTenantFill = 2000     // values that fill places
)

// TenantSettings are all that admins of a tenant have set: what makes one tenant another than the next one. Clusters, history, passwords,
// tokens and who is signed in are no part of it, nor is any secret: where one belongs is its place, ${secret:NAME}. A part that is nil
// is not spoken of.
type TenantSettings struct {
	Form     int     `json:"muster_tenant"`
	About    *string `json:"about,omitempty"`
	Slots    *int    `json:"slots,omitempty"`
	TimeZone string  `json:"time_zone,omitempty"` // of policies
	// Currency and ExchangeRate are as in identity.Tenant.
	Currency     string  `json:"currency,omitempty"`
	ExchangeRate float64 `json:"exchange_rate,omitempty"`
	// SecondFactor says whether people with a password need one.
	SecondFactor *bool `json:"require_second_factor,omitempty"`
	// ClusterVisibility is that of new clusters.
	ClusterVisibility app.Visibility                  `json:"cluster_visibility,omitempty"`
	Idle              *IdleSettings                   `json:"idle,omitempty"`
	Maintenance       *MaintenanceSettings            `json:"maintenance,omitempty"`
	Users             map[string]UserSettings         `json:"users,omitempty"`
	Groups            map[string]GroupSettings        `json:"groups,omitempty"`
	Quotas            map[string]policy.Limits        `json:"quotas,omitempty"`   // by tenant, each_user, group/NAME or user/NAME
	Policies          map[string]policy.Policy        `json:"policies,omitempty"` // by name; files hold no version of one
	Secrets           map[string]template.SecretPlace `json:"secrets,omitempty"`
	Hooks             map[string]HookSettings         `json:"webhooks,omitempty"`
	BuildHooks        map[string]BuildHookSettings    `json:"build_hooks,omitempty"`
	Pools             map[string]PoolSettings         `json:"pools,omitempty"`
	Resources         map[string]ResourceSettings     `json:"resources,omitempty"` // by ResourceID
	Catalog           map[string]CatalogSettings      `json:"catalog,omitempty"`   // by KIND/NAME
}

func placeOf(name string) template.SecretPlace { return template.SecretPlace("${secret:" + name + "}") }

// TimeLength is a duration that is written as people do: 90m, 24h, 3d.
type TimeLength time.Duration

func (l TimeLength) MarshalText() ([]byte, error) {
	d := time.Duration(l)
	if d == 0 || d%time.Second != 0 {
		return []byte(d.String()), nil
	}
	return []byte(humanize.DurationField(d)), nil
}

func (l *TimeLength) UnmarshalText(text []byte) error {
	d, err := template.ParseLength(string(text))
	if err != nil {
		other, bad := time.ParseDuration(string(text))
		if bad != nil {
			return err
		}
		d = other
	}
	*l = TimeLength(d)
	return nil
}

// UserSettings are an account, without its password. Groups say themselves who is in them.
type UserSettings struct {
	FullName string   `json:"full_name,omitempty"`
	Email    string   `json:"email,omitempty"`
	Role     app.Role `json:"role"`
	Disabled bool     `json:"disabled,omitempty"`
}

// GroupSettings are a group with those whom people put into it here.
type GroupSettings struct {
	About   string   `json:"about,omitempty"`
	Members []string `json:"members,omitempty"`
}

// HookSettings are a Hook. Its whole address is taken for a secret, since for many receivers it is one.
type HookSettings struct {
	URL        template.SecretPlace `json:"url,omitempty"`
	Secret     template.SecretPlace `json:"secret,omitempty"` // what deliveries are signed with
	Format     webhook.Format       `json:"format,omitempty"`
	To         string               `json:"to,omitempty"`
	Kinds      []app.NoticeKind     `json:"kinds,omitempty"`
	When       template.HookPhase   `json:"when,omitempty"`
	Operations []app.OperationKind  `json:"operations,omitempty"`
	Services   []string             `json:"services,omitempty"`
	Timeout    TimeLength           `json:"timeout,omitempty"`
	OnTimeout  template.HookChoice  `json:"on_timeout,omitempty"`
	Script     string               `json:"script,omitempty"`
	Disabled   bool                 `json:"disabled,omitempty"`
}

func settingsOfHook(h webhook.Endpoint) HookSettings {
	return HookSettings{Format: h.Format, To: h.To, Kinds: h.Kinds, When: h.When, Operations: h.Operations, Services: h.Services, Timeout: TimeLength(h.Timeout),
		OnTimeout: h.OnTimeout, Script: h.Script, Disabled: h.State == webhook.HookOff}
}

// BuildHookSettings are a BuildHook. Its address is made again where it is brought in.
type BuildHookSettings struct {
	System   string               `json:"system"`
	Owner    string               `json:"owner"`
	Secret   template.SecretPlace `json:"secret"`
	Disabled bool                 `json:"disabled,omitempty"`
	Rules    []build.Rule         `json:"rules,omitempty"`
}

// PoolSettings are a Pool, without its machines.
type PoolSettings struct {
	Hardware string     `json:"hardware"`
	Image    string     `json:"image"`
	Provider string     `json:"provider"`
	Zone     string     `json:"zone,omitempty"`
	Count    int        `json:"count"`
	MaxAge   TimeLength `json:"max_age,omitempty"`
	Mode     pool.Mode  `json:"mode,omitempty"`
}

func settingsOfPool(p pool.Pool) PoolSettings {
	return PoolSettings{Hardware: p.Hardware, Image: p.Image, Provider: p.Provider, Zone: p.Zone, Count: p.Count, MaxAge: TimeLength(p.MaxAge), Mode: p.Mode}
}

// ResourceSettings say which contents a resource has. The contents do not come along.
type ResourceSettings struct {
	InUse    int64             `json:"in_use,omitempty"` // the version that clusters get that name none
	Versions map[string]string `json:"versions"`         // SHA-256 by number
}

// CatalogSettings are an own entry of the catalog, as it was typed.
type CatalogSettings struct {
	// Coopr tells that it came from Coopr: a broken rule is only a warning.
	Coopr bool   `json:"coopr,omitempty"`
	Text  string `json:"text"`
}

// TenantPlace is where something is in a file; both count from 1, 0 is not known.
type TenantPlace struct {
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// TenantProblem is something wrong with a file of settings. It never quotes a value that fills a place.
type TenantProblem struct {
	TenantPlace
	Path     string `json:"path,omitempty"` // such as webhooks.ops-chat.url
	Severity string `json:"severity"`       // error or warning
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
}

// TenantEdit is what happens to one thing.
type TenantEdit struct {
	Part   string                `json:"part"`             // users, groups, …; as in the file
	Name   string                `json:"name,omitempty"`   // "" of what the tenant has one of
	Act    string                `json:"act"`              // add, change, remove
	Fields []catalog.FieldChange `json:"fields,omitempty"` // at most 200
	// Warnings are what people would want to know.
	Warnings []string `json:"warnings,omitempty"`
}

// TenantImport is what an admin wants of the settings of a tenant. All of it happens, or nothing.
type TenantImport struct {
	File string `json:"file"`
	// Fill returns the values of places that the tenant has nothing for yet, by name. What it has stays as it is.
	Fill map[string]string `json:"fill,omitempty"`
	// Prune also removes what the file does not hold, in the parts that it speaks of.
	Prune bool `json:"prune,omitempty"`
	// AsOf is what a report said: where the tenant's settings have changed since, it is EConflict, reason tenant_moved. "" does not look.
	AsOf string `json:"as_of,omitempty"`
}

// TenantReport says what an import would do, or has done.
type TenantReport struct {
	Problems  []TenantProblem `json:"problems"` // errors first; with an error, nothing was done
	Changes   []TenantEdit    `json:"changes"`
	Unchanged int             `json:"unchanged"` // things that are as they were
	Fill      []string        `json:"fill,omitempty"`
	Applied   bool            `json:"applied"`
	AsOf      string          `json:"as_of"`
}

// OK reports whether there is no error.
func (r TenantReport) OK() bool {
	for _, p := range r.Problems {
		if p.Severity == catalog.SeverityError {
			return false
		}
	}
	return true
}

// TenantFile is a tenant's settings, written down.
type TenantFile struct {
	Tenant string `json:"tenant"`
	File   string `json:"file"`
	AsOf   string `json:"as_of"`
}

// TenantFiles reads and writes the file of settings; app/file/tenantfile is one. It is pure.
type TenantFiles interface {
	// ReadTenant also returns where each part is, by its path. Problems are errors; with one, the settings are not whole.
	ReadTenant(text string) (TenantSettings, map[string]TenantPlace, []TenantProblem)
	// WriteTenant returns the same text for the same settings. ReadTenant of what it wrote returns the same settings.
	WriteTenant(s TenantSettings) string
	// Policy returns a policy as the file has it, as a value that JSON can be made of: what differs is reported in its words.
	Policy(p policy.Policy) any
}

// TenantMoved is what InTransaction returns where the mark is another one.
func TenantMoved() error {
	return &app.Error{Code: app.EConflict, Reason: "tenant_moved", Field: "as_of", Message: "Someone else has changed the tenant's settings since your preview.",
		Hint: "Preview the import again, then import."}
}

// quotaName names a quota in a file.
func quotaName(q policy.Quota) string {
	if q.Scope == policy.QuotaGroup || q.Scope == policy.QuotaUser {
		return string(q.Scope) + "/" + q.Name
	}
	return string(q.Scope)
}

func parseQuotaName(key string) (policy.Quota, error) {
	scope, name, _ := strings.Cut(key, "/")
	q := policy.Quota{Scope: policy.QuotaScope(scope), Name: strings.TrimSpace(name)}
	switch q.Scope {
	case policy.QuotaTenant, policy.QuotaEachUser, policy.QuotaGroup, policy.QuotaUser:
		return q, nil
	}
	return q, &app.Error{Code: app.EInvalid, Message: fmt.Sprintf("Invalid quota subject %.70q.", key), Hint: `Use tenant, each_user, group/NAME or user/NAME.`}
}
