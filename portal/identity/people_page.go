package identity

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/identity"
	"muster/portal/page"
)

// UserList is the page of a tenant's accounts.
type UserList struct {
	Now    time.Time
	Users  []identity.User
	Search string
	Role   string
	More   bool
	// Required says that users with a password need a second factor.
	Required bool
	Done     string // message about the last action
}

// next is the address of the next page.
func (l UserList) next() string {
	q := url.Values{"after": {l.Users[len(l.Users)-1].Name}}
	if l.Search != "" {
		q.Set("q", l.Search)
	}
	if l.Role != "" {
		q.Set("role", l.Role)
	}
	return "/admin/users?" + q.Encode()
}

// emails are a user's addresses, with whether each is confirmed.
func emails(u identity.User) (list []string) {
	if u.Email != "" {
		list = append(list, u.Email+" (confirmed)")
	}
	if u.PendingEmail != "" {
		list = append(list, u.PendingEmail+" (not confirmed yet)")
	}
	return list
}

func userPath(name string) string { return "/admin/users/" + url.PathEscape(name) }

// UserEdit is the form of one account; of a new one where New.
type UserEdit struct {
	New      bool
	Now      time.Time
	User     identity.UserView
	Roles    []app.Role // that the actor can assign
	Groups   []string   // that are managed in Muster
	Checked  []string
	Disabled bool
	Self     bool // the account is the actor's own
	Manage   bool // the actor can change the account
	Done     string
	Field    string // of the complaint; "" for above the form
	Wrong    page.Complaint
	Transfer string
}

func (e UserEdit) at(field string) page.Complaint {
	if e.Field != field {
		return page.Complaint{}
	}
	return e.Wrong
}

// elsewhere are the groups that the account has from other sources.
func (e UserEdit) elsewhere() []string {
	return slices.DeleteFunc(slices.Clone(e.User.Groups), func(g string) bool { return slices.Contains(e.User.LocalGroups, g) })
}

// roleHelp describes a role in a few words.
func roleHelp(r app.Role) string {
	switch r {
	case app.RoleSuperadmin:
		return "manages the installation and all tenants"
	case app.RoleAdmin:
		return "manages this tenant"
	case app.RoleApprover:
		return "a user who can also approve requests"
	case app.RoleUser:
		return "creates and owns clusters"
	case app.RoleViewer:
		return "read-only access"
	case app.RoleRobot:
		return "a program: API tokens only, no sign-in"
	}
	return ""
}

// userState is the mark and the word for an account's state.
func userState(u identity.User) (mark, word string) {
	switch {
	case u.Disabled():
		return "dropped", "disabled"
	case u.MustChange:
		return "waiting", "one-time password"
	}
	return "succeeded", "active"
}

func lastSeen(now, t time.Time) string {
	if t.IsZero() {
		return "never seen"
	}
	return "last seen " + humanize.Ago(now, t)
}

func seenAt(now, t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return humanize.Ago(now, t)
}

// Once is a page that shows a secret, once.
type Once struct {
	Title, Text  string
	Label        string
	Secret       string
	Back, Called string // link of the button, and its label
}

// GroupList is the page of a tenant's groups.
type GroupList struct {
	Groups []identity.Group
	Open   string // name of the group with an open form; "+" for a new one
	Form   GroupForm
	Done   string
}

// GroupForm is the form as typed.
type GroupForm struct {
	Name, About, Members string
	Field                string
	Wrong                page.Complaint
}

// form returns the form of a group: what was typed, or the saved values.
func (l GroupList) form(g identity.Group) GroupForm {
	if l.Open == g.Name && l.Form.Name != "" {
		return l.Form
	}
	f := GroupForm{Name: g.Name, About: g.About}
	var here []string
	for _, m := range g.Members {
		if m.Here {
			here = append(here, m.User)
		}
	}
	f.Members = strings.Join(here, " ")
	return f
}

func (f GroupForm) at(field string) page.Complaint {
	if f.Field != field {
		return page.Complaint{}
	}
	return f.Wrong
}

func memberTitle(m identity.Member) string {
	if m.Here || len(m.Sources) == 0 {
		return ""
	}
	return "from " + strings.Join(m.Sources, ", ")
}

// TokenList is the page of a tenant's API tokens, for admins.
type TokenList struct {
	Now    time.Time
	Tokens []identity.Token
	Robots []string
	Scopes []app.Scope // that a robot's token can have besides read
	Form   TokenForm
	Done   string
}

// TokenForm is the form as typed.
type TokenForm struct {
	User, Label, Days string
	Scopes            []string
	Field             string
	Wrong             page.Complaint
}

func (f TokenForm) at(field string) page.Complaint {
	if f.Field != field {
		return page.Complaint{}
	}
	return f.Wrong
}

func scopeHelp(s app.Scope) string {
	switch s {
	case app.ScopeCluster:
		return "request clusters and change its own"
	case app.ScopeApprove:
		return "approve and deny requests"
	case app.ScopeAdmin:
		return "administer the tenant or installation"
	}
	return ""
}

// tokenEnd says when a token expires.
func tokenEnd(now time.Time, t identity.Token) string {
	switch {
	case t.ExpiresAt.IsZero():
		return "never (for clients on the server's host)"
	case t.Expired(now):
		return "expired " + humanize.Ago(now, t.ExpiresAt)
	}
	return "in " + humanize.Rough(t.ExpiresAt.Sub(now))
}

// TenantList is the page of the installation's tenants.
type TenantList struct {
	Now     time.Time
	Tenants []identity.Tenant
	Here    string // that the actor acts in
	Home    string // of the actor
	Open    string // name of the tenant with an open form; "+" for a new one
	Form    TenantForm
	Done    string
}

// TenantForm is the form as typed.
type TenantForm struct {
	Name, About, Slots, From, Admin string
	Currency, Rate                  string
	Field                           string
	Wrong                           page.Complaint
}

func (l TenantList) form(t identity.Tenant) TenantForm {
	if l.Open == t.Name {
		return l.Form
	}
	f := TenantForm{Name: t.Name, About: t.About, Slots: slotNumber(t.Slots), Currency: t.Currency}
	if t.ExchangeRate != 0 {
		f.Rate = strconv.FormatFloat(t.ExchangeRate, 'g', -1, 64)
	}
	return f
}

// newForm returns the form of a new tenant.
func (l TenantList) newForm() TenantForm {
	if l.Open == "+" {
		return l.Form
	}
	return TenantForm{}
}

func (f TenantForm) at(field string) page.Complaint {
	if f.Field != field {
		return page.Complaint{}
	}
	return f.Wrong
}

// newForm returns the form of a new group.
func (l GroupList) newForm() GroupForm {
	if l.Open == "+" {
		return l.Form
	}
	return GroupForm{}
}

// action is where the form is submitted to.
func (e UserEdit) action() string {
	if e.New {
		return "/admin/users"
	}
	return userPath(e.User.Name)
}

// groupID and tenantID are prefixes of input ids, since a page has several such forms.
func groupID(g GroupForm, fresh bool) string {
	if fresh {
		return "new-"
	}
	return "g-" + g.Name + "-"
}

func tenantID(t TenantForm, fresh bool) string {
	if fresh {
		return "new-"
	}
	return "in-" + t.Name + "-"
}

func slotNumber(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// slotWords says how many slots a tenant uses, and its limit.
func slotWords(t identity.Tenant) string {
	limit := "server default"
	if t.Slots > 0 {
		limit = "limit " + strconv.Itoa(t.Slots)
	}
	return strconv.Itoa(t.SlotsGranted) + " in use, " + limit
}

// mayDo lists the scopes of a token, in a table.
func mayDo(t identity.Token) string {
	if len(t.Scopes) == 0 {
		return "all of the user's permissions"
	}
	return scopesOf(t)
}
