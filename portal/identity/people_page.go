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
	// Required says that people with a password need a second factor here.
	Required bool
	Done     string // what was just done
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

func userPath(name string) string { return "/admin/users/" + url.PathEscape(name) }

// UserEdit is the form of one account; of a new one where New.
type UserEdit struct {
	New      bool
	Now      time.Time
	User     identity.UserView
	Roles    []app.Role // that may be given
	Groups   []string   // that people can put it into
	Checked  []string
	Disabled bool
	Self     bool // it is the one who asks
	Manage   bool // it may be changed
	Done     string
	Field    string // where the complaint belongs; "" above the form
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
	return slices.DeleteFunc(slices.Clone(e.User.Groups), func(g string) bool { return slices.Contains(e.User.Here, g) })
}

// roleHelp says in a few words what a role may do.
func roleHelp(r app.Role) string {
	switch r {
	case app.RoleSuperadmin:
		return "looks after the installation and every tenant"
	case app.RoleAdmin:
		return "everything in this tenant"
	case app.RoleApprover:
		return "a user who also decides on requests"
	case app.RoleUser:
		return "has clusters of their own"
	case app.RoleViewer:
		return "looks, and changes nothing"
	case app.RoleRobot:
		return "a program: tokens only, no sign-in"
	}
	return ""
}

// userState is the mark and the word for an account.
func userState(u identity.User) (mark, word string) {
	switch {
	case u.Disabled():
		return "dropped", "disabled"
	case u.MustChange:
		return "waiting", "one-time password"
	}
	return "succeeded", "active"
}

func seenAt(now, t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return humanize.Ago(now, t)
}

// Once is a page that shows a secret, this once.
type Once struct {
	Title, Text  string
	Label        string
	Secret       string
	Back, Called string // where to go on, and its name
}

// GroupList is the page of a tenant's groups.
type GroupList struct {
	Groups []identity.Group
	Open   string // the name of the group whose form is open; "+" for the new one
	Form   GroupForm
	Done   string
}

// GroupForm is what was typed.
type GroupForm struct {
	Name, About, Members string
	Field                string
	Wrong                page.Complaint
}

// form returns the form of a group: what was typed, or what stands.
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
	Scopes []app.Scope // that a robot's token may have besides read
	Form   TokenForm
	Done   string
}

// TokenForm is what was typed.
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
		return "ask for clusters and change its own"
	case app.ScopeApprove:
		return "decide on requests"
	case app.ScopeAdmin:
		return "look after tenant or installation"
	}
	return ""
}

// tokenEnd says when a token ends.
func tokenEnd(now time.Time, t identity.Token) string {
	switch {
	case t.ExpiresAt.IsZero():
		return "never: it is for clients on the server's host"
	case t.Expired(now):
		return "ended " + humanize.Ago(now, t.ExpiresAt)
	}
	return "in " + humanize.Rough(t.ExpiresAt.Sub(now))
}

// TenantList is the page of the installation's tenants.
type TenantList struct {
	Now     time.Time
	Tenants []identity.Tenant
	Here    string // in which the actor acts
	Home    string // of the actor
	Open    string // the tenant whose form is open; "+" for the new one
	Form    TenantForm
	Done    string
}

// TenantForm is what was typed.
type TenantForm struct {
	Name, About, Slots, From, Admin string
	Field                           string
	Wrong                           page.Complaint
}

func (l TenantList) form(t identity.Tenant) TenantForm {
	if l.Open == t.Name {
		return l.Form
	}
	return TenantForm{Name: t.Name, About: t.About, Slots: slotNumber(t.Slots)}
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

// action is where the form goes.
func (e UserEdit) action() string {
	if e.New {
		return "/admin/users"
	}
	return userPath(e.User.Name)
}

// groupID and tenantID begin the ids of a form's inputs, since a page has several such forms.
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

// slotWords says how many slots a tenant may have, and has.
func slotWords(t identity.Tenant) string {
	most := "as the server says"
	if t.Slots > 0 {
		most = "at most " + strconv.Itoa(t.Slots)
	}
	return most + ", " + strconv.Itoa(t.SlotsHeld) + " given now"
}

// mayDo says for what a token is good.
func mayDo(t identity.Token) string {
	if len(t.Scopes) == 0 {
		return "all that the user may"
	}
	return scopesOf(t)
}
