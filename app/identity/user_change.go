package identity

import (
	"context"
	"fmt"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"muster/app"
	"muster/app/humanize"
)

// UserStore changes accounts. What it must decide with the rows in hand, it asks UserChange.Apply, Others.Spare and
// MayManage.
type UserStore interface {
	// AddUser adds an account to a tenant, with its groups; EConflict where the name is taken.
	AddUser(ctx context.Context, who app.Actor, u User) error
	ChangeUser(ctx context.Context, who app.Actor, name string, c UserChange, at time.Time) (User, error)
	CountUsers(ctx context.Context) (int, error)
	// CreateUser adds an account on behalf of no one; EConflict where the name is taken. Its tenant comes to be with it.
	CreateUser(ctx context.Context, u User) error
	// DeleteUser drops an account with its tokens and memberships. Its live clusters become those of another one; EConflict names
	// them where none is given.
	DeleteUser(ctx context.Context, who app.Actor, name, transferTo string, at time.Time) error
	// ResetPassword sets a password that its user must change, and ends all sign-ins and tokens. EConflict for accounts that have none.
	ResetPassword(ctx context.Context, who app.Actor, name, hash string, at time.Time) error
	// PendingEmails returns addresses that wait for their confirmation, of users from one name to another.
	PendingEmails(ctx context.Context, tenant, from, to string, now time.Time) (map[string]string, error)
	UserView(ctx context.Context, tenant, name string) (UserView, error)
	// Users returns accounts of a tenant by name, with their groups, and whether there are more.
	Users(ctx context.Context, tenant string, f UserFilter) (users []User, more bool, err error)
}

// UsersConfig is what Users is created from. Only what says so may be nil.
type UsersConfig struct {
	Store UserStore
	Now   func() time.Time
}

// Users are the accounts of a tenant.
type Users struct {
	UsersConfig
}

// NewUsers returns them on top of what c holds.
func NewUsers(c UsersConfig) *Users { return &Users{UsersConfig: c} }

// MayManage reports whether an actor may change, reset or delete an account: no one does so with one that is mightier.
func (u User) MayManage(who app.Actor) error {
	if u.Role.Above(who.Role) {
		return &app.Error{Code: app.EForbidden, Reason: "role", Message: fmt.Sprintf("%s is %s; only a %s can change that account.", u.Name, u.Role, u.Role)}
	}
	return who.NotByToken(u.Role)
}

// NewUser is an account about to be made.
type NewUser struct {
	Name     string   `json:"name"`
	FullName string   `json:"full_name,omitempty"`
	Email    string   `json:"email,omitempty"`
	Role     app.Role `json:"role"`
	Groups   []string `json:"groups,omitempty"`
}

// UserChange changes an account. What is nil stays.
type UserChange struct {
	FullName *string   `json:"full_name,omitempty"`
	Email    *string   `json:"email,omitempty"`
	Role     *app.Role `json:"role,omitempty"`
	Groups   *[]string `json:"groups,omitempty"` // into which people put it here
	Disabled *bool     `json:"disabled,omitempty"`
}

// UserView is an account with what it has.
type UserView struct {
	User
	LocalGroups []string `json:"local_groups,omitempty"` // those of its groups into which people put it here
	Clusters    []string `json:"clusters,omitempty"`     // that it owns and that are not deleted, by name
	Tokens      int      `json:"tokens"`
}

// UserFilter chooses among the accounts of a tenant.
type UserFilter struct {
	Search string // part of name, full name or e-mail
	Role   app.Role
	After  string // by name; for the next page
	Limit  int    // 0: 100; at most 500
}

// Others are how many others could still manage things: enabled accounts besides the one in question.
type Others struct {
	Superadmins int // of the installation
	Admins      int // of the tenant; superadmins whose account is there count
}

// Names of users stand in addresses, logs and audits.
var (
	userName      = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)
	reservedUsers = []string{app.Expirer, app.Retrier, app.HealthUser, app.IdleUser, app.ScalingUser,
		"all", "any", "me", "new", "nobody", "none", "self", "server", "system"}
)

func checkUserName(name string) error {
	switch {
	case !userName.MatchString(name):
		return &app.Error{Code: app.EInvalid, Field: "name", Message: "Name must be 1 to 63 lowercase letters, digits, '.', '_' or '-', and start with a letter or digit.",
			Hint: "For example ada or ada.lovelace."}
	case slices.Contains(reservedUsers, name):
		return &app.Error{Code: app.EInvalid, Field: "name", Message: fmt.Sprintf("%q is a reserved name.", name), Hint: "Choose another name."}
	}
	return nil
}

// CheckEmail checks an email address: one, without a name, of characters that can be seen; "" is fine.
func CheckEmail(text string) error {
	if text == "" {
		return nil
	}
	m, err := mail.ParseAddress(text[:min(len(text), 255)])
	if err != nil || m.Address != text || len(text) > 254 || strings.ContainsFunc(text, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }) {
		return &app.Error{Code: app.EInvalid, Field: "email", Message: "Invalid email address.", Hint: "For example ada@example.com."}
	}
	return nil
}

// Spare reports whether the others can do without an account as it is now: the last superadmin of the installation and the last
// admin of a tenant stay.
func (o Others) Spare(u User) error {
	last := func(what string) error {
		return &app.Error{Code: app.EConflict, Reason: "last_admin", Message: fmt.Sprintf("%s is the last %s.", u.Name, what), Hint: "Assign that role to someone else first."}
	}
	switch {
	case u.Disabled():
		return nil
	case u.Role == app.RoleSuperadmin && o.Superadmins == 0:
		return last("superadmin of this installation")
	case u.Role.Privileged() && o.Admins == 0:
		return last(fmt.Sprintf("admin of the tenant %q", u.Tenant))
	}
	return nil
}

// Apply returns an account as the change wants it, or says why it may not be. Groups are the store's to judge.
func (c UserChange) Apply(who app.Actor, u User, others Others, at time.Time) (User, error) {
	if err := u.MayManage(who); err != nil {
		return u, err
	}
	after := u
	if c.FullName != nil {
		after.FullName = *c.FullName
	}
	if c.Email != nil {
		after.Email = *c.Email
	}
	if c.Disabled != nil && *c.Disabled != u.Disabled() {
		after.DisabledAt = time.Time{}
		if *c.Disabled {
			after.DisabledAt = at
		}
	}
	if c.Role != nil && *c.Role != u.Role {
		if err := who.MayGrant(*c.Role, u.Tenant); err != nil {
			return u, err
		}
		if *c.Role == app.RoleRobot || u.Role == app.RoleRobot {
			return u, &app.Error{Code: app.EConflict, Field: "role", Message: "A person's account can't become a robot account, or the reverse.", Hint: "Create another account."}
		}
		after.Role = *c.Role
	}
	if after.Disabled() || !after.Role.Privileged() || u.Role == app.RoleSuperadmin && after.Role != app.RoleSuperadmin {
		left := others
		if !after.Disabled() && after.Role.Privileged() {
			left.Admins++ // a superadmin that becomes admin still manages its tenant
		}
		if err := left.Spare(u); err != nil {
			return u, err
		}
	}
	return after, nil
}

// DraftUser checks an account about to be made in a tenant.
func (a *Users) DraftUser(actor app.Actor, tenant string, n NewUser) (User, error) {
	u := User{Tenant: tenant, Name: n.Name, FullName: n.FullName, Email: n.Email, Role: n.Role, CreatedAt: a.Now(), CreatedBy: actor.Name()}
	for _, err := range []error{checkUserName(n.Name), CheckText("full_name", n.FullName, 200), CheckEmail(n.Email), actor.MayGrant(n.Role, tenant)} {
		if err != nil {
			return u, err
		}
	}
	if len(n.Groups) > app.MostInOneCall {
		return u, &app.Error{Code: app.ETooLarge, Field: "groups", Message: fmt.Sprintf("At most %d groups can be set at once.", app.MostInOneCall)}
	}
	u.Groups = slices.Compact(slices.Sorted(slices.Values(n.Groups)))
	return u, nil
}

// Users lists accounts of the tenant by name, and reports whether there are more.
func (a *Users) Users(ctx context.Context, actor app.Actor, f UserFilter) (users []User, more bool, err error) {
	if err := actor.Authorize("Users"); err != nil {
		return nil, false, err
	}
	if f.Role != "" && !f.Role.Known() {
		return nil, false, &app.Error{Code: app.EInvalid, Field: "role", Message: fmt.Sprintf("Unknown role %q.", f.Role), Hint: "Use " + humanize.Or(app.RoleNames()) + "."}
	}
	if f.Limit <= 0 {
		f.Limit = 100
	}
	f.Limit = min(f.Limit, 500)
	if users, more, err = a.Store.Users(ctx, actor.Tenant, f); err != nil || len(users) == 0 {
		return users, more, err
	}
	pending, err := a.Store.PendingEmails(ctx, actor.Tenant, users[0].Name, users[len(users)-1].Name, a.Now())
	for i := range users {
		users[i].PendingEmail = pending[users[i].Name]
	}
	return users, more, err
}

// User shows an account of the tenant; those who are no admins only their own.
func (a *Users) User(ctx context.Context, actor app.Actor, name string) (UserView, error) {
	if err := actor.MayTouch("User", name, fmt.Sprintf("account %q", name)); err != nil {
		return UserView{}, err
	}
	v, err := a.Store.UserView(ctx, actor.Tenant, name)
	if err != nil {
		return v, err
	}
	pending, err := a.Store.PendingEmails(ctx, actor.Tenant, name, name, a.Now())
	v.PendingEmail = pending[name]
	return v, err
}

// CreateUser makes an account in the tenant and returns its one-time password; "" for robots, which have none.
func (a *Users) CreateUser(ctx context.Context, actor app.Actor, n NewUser) (v UserView, password string, err error) {
	if err := actor.Authorize("CreateUser"); err != nil {
		return v, "", err
	}
	if n.Role.Rules() {
		if err := actor.MustStepUp(); err != nil {
			return v, "", err
		}
	}
	u, err := a.DraftUser(actor, actor.Tenant, n)
	if err != nil {
		return v, "", err
	}
	if u.Role != app.RoleRobot {
		password = NewPassword()
		u.PasswordHash, u.MustChange = HashPassword(password), true
	}
	if err := a.Store.AddUser(ctx, actor, u); err != nil {
		return v, "", err
	}
	v, err = a.Store.UserView(ctx, u.Tenant, u.Name)
	return v, password, err
}

// ChangeUser changes an account of the tenant. What it takes away counts from the next request on.
func (a *Users) ChangeUser(ctx context.Context, actor app.Actor, name string, c UserChange) (UserView, error) {
	if err := actor.Authorize("ChangeUser"); err != nil {
		return UserView{}, err
	}
	if c.FullName != nil {
		if err := CheckText("full_name", *c.FullName, 200); err != nil {
			return UserView{}, err
		}
	}
	if c.Email != nil {
		if err := CheckEmail(*c.Email); err != nil {
			return UserView{}, err
		}
	}
	if c.Groups != nil && len(*c.Groups) > app.MostInOneCall {
		return UserView{}, &app.Error{Code: app.ETooLarge, Field: "groups", Message: fmt.Sprintf("At most %d groups can be set at once.", app.MostInOneCall)}
	}
	if c.Role != nil && c.Role.Rules() {
		was, err := a.Store.UserView(ctx, actor.Tenant, name)
		if err != nil {
			return UserView{}, err
		}
		if was.Role != *c.Role {
			if err := actor.MustStepUp(); err != nil {
				return UserView{}, err
			}
		}
	}
	if _, err := a.Store.ChangeUser(ctx, actor, name, c, a.Now()); err != nil {
		return UserView{}, err
	}
	return a.Store.UserView(ctx, actor.Tenant, name)
}

// ResetUserPassword sets a new one-time password for a user, and ends their sign-ins and tokens.
func (a *Users) ResetUserPassword(ctx context.Context, actor app.Actor, name string) (string, error) {
	if err := actor.Authorize("ResetUserPassword"); err != nil {
		return "", err
	}
	if name == actor.User && actor.Home == "" {
		return "", &app.Error{Code: app.EConflict, Reason: "own", Message: "Change your own password on your account page, with your current one."}
	}
	password := NewPassword()
	return password, a.Store.ResetPassword(ctx, actor, name, HashPassword(password), a.Now())
}

// DeleteUser drops an account of the tenant with its tokens. EConflict while it owns live clusters and no one is named who gets
// them.
func (a *Users) DeleteUser(ctx context.Context, actor app.Actor, name, transferTo string) error {
	if err := actor.Authorize("DeleteUser"); err != nil {
		return err
	}
	if transferTo == name {
		return &app.Error{Code: app.EInvalid, Field: "transfer_to", Message: "The new owner must be someone else."}
	}
	return a.Store.DeleteUser(ctx, actor, name, transferTo, a.Now())
}

// EnsureAdmin makes the first account of a fresh installation and returns its one-time password; "" where there are
// accounts already. A wanted password, when given, is used instead of a random one, which must be changed at the first sign-in.
func (a *Users) EnsureAdmin(ctx context.Context, wanted string) (password string, err error) {
	n, err := a.Store.CountUsers(ctx)
	if err != nil || n > 0 {
		return "", err
	}
	if password = wanted; password == "" {
		password = NewPassword()
	}
	err = a.Store.CreateUser(ctx, User{Tenant: app.DefaultTenant, Name: "admin", Role: app.RoleSuperadmin,
		PasswordHash: HashPassword(password), MustChange: wanted == "", CreatedAt: a.Now()})
	if app.CodeOf(err) == app.EConflict { // another server has just made it, and tells its password
		return "", nil
	}
	return password, err
}
