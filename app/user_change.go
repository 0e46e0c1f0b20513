package app

import (
	"context"
	"fmt"
	"net/mail"
	"regexp"
	"slices"
	"time"
)

// NewUser is an account about to be made.
type NewUser struct {
	Name     string   `json:"name"`
	FullName string   `json:"full_name,omitempty"`
	Email    string   `json:"email,omitempty"`
	Role     Role     `json:"role"`
	Groups   []string `json:"groups,omitempty"`
}

// UserChange changes an account. What is nil stays.
type UserChange struct {
	FullName *string   `json:"full_name,omitempty"`
	Email    *string   `json:"email,omitempty"`
	Role     *Role     `json:"role,omitempty"`
	Groups   *[]string `json:"groups,omitempty"` // into which people put it here
	Disabled *bool     `json:"disabled,omitempty"`
}

// UserView is an account with what it has.
type UserView struct {
	User
	Here     []string `json:"groups_here,omitempty"` // those of its groups into which people put it here
	Clusters []string `json:"clusters,omitempty"`    // that it owns and that are not deleted, by name
	Tokens   int      `json:"tokens"`
}

// UserFilter chooses among the accounts of a tenant.
type UserFilter struct {
	Search string // part of name, full name or e-mail
	Role   Role
	After  string // by name; for the next page
	Limit  int    // 0: 100; at most 500
}

// Others are how many others could still look after things: enabled accounts besides the one in question.
type Others struct {
	Superadmins int // of the installation
	Admins      int // of the tenant; superadmins whose account is there count
}

// UserStore changes accounts. What it must decide with the rows in hand, it asks UserChange.Apply, Others.Spare and
// MayManage.
type UserStore interface {
	// Users gives accounts of a tenant by name, with their groups, and whether there are more.
	Users(ctx context.Context, tenant string, f UserFilter) (users []User, more bool, err error)
	UserView(ctx context.Context, tenant, name string) (UserView, error)
	// AddUser adds an account to a tenant, with its groups; EConflict where the name is taken.
	AddUser(ctx context.Context, who Actor, u User) error
	ChangeUser(ctx context.Context, who Actor, name string, c UserChange, at time.Time) (User, error)
	// ResetPassword sets a password that its user must change, and ends all sign-ins and tokens. EConflict for accounts that have none.
	ResetPassword(ctx context.Context, who Actor, name, hash string, at time.Time) error
	// DeleteUser drops an account with its tokens and memberships. Its live clusters become those of another one; EConflict names
	// them where none is given.
	DeleteUser(ctx context.Context, who Actor, name, transferTo string, at time.Time) error
	// Superadmin gives an enabled superadmin, the one called admin before others, or ENotFound.
	Superadmin(ctx context.Context) (User, error)
}

// Names of users stand in addresses, logs and audits.
var (
	userName      = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)
	reservedUsers = []string{expirer, retrier, HealthUser, "all", "any", "me", "new", "nobody", "none", "self", "server", "system"}
)

func checkUserName(name string) error {
	switch {
	case !userName.MatchString(name):
		return &Error{Code: EInvalid, Field: "name", Message: "A user's name has 1 to 63 small letters, digits, '.', '_' and '-', and begins with a letter or digit.",
			Hint: "For example ada or ada.lovelace."}
	case slices.Contains(reservedUsers, name):
		return &Error{Code: EInvalid, Field: "name", Message: fmt.Sprintf("%q cannot be the name of a user, since it means something here.", name), Hint: "Choose another one."}
	}
	return nil
}

func checkEmail(text string) error {
	if text == "" {
		return nil
	}
	m, err := mail.ParseAddress(text)
	if err != nil || m.Address != text || len(text) > 254 {
		return &Error{Code: EInvalid, Field: "email", Message: "This is not an e-mail address.", Hint: "For example ada@example.com."}
	}
	return nil
}

// above tells whether a role is mightier than another.
func (r Role) above(other Role) bool { return slices.Index(Roles, r) < slices.Index(Roles, other) }

// mighty tells whether a role looks after others.
func (r Role) mighty() bool { return r == RoleSuperadmin || r == RoleAdmin }

// mayGive tells whether the actor may give a role to an account of a tenant.
func (a Actor) mayGive(r Role, tenant string) error {
	switch {
	case !r.Known():
		return &Error{Code: EInvalid, Field: "role", Message: fmt.Sprintf("There is no role %q.", r), Hint: "Use one of " + orList(roleNames()) + "."}
	case r.above(a.Role):
		return &Error{Code: EForbidden, Reason: "role", Field: "role", Message: fmt.Sprintf("Only a %s can give the role %s.", r, r)}
	case r == RoleSuperadmin && tenant != DefaultTenant:
		return &Error{Code: EInvalid, Field: "role", Message: fmt.Sprintf("Superadmins have their account in the tenant %q.", DefaultTenant), Hint: "Make it there; it can act in every tenant."}
	}
	return a.notByToken(r)
}

// notByToken keeps a token that leaked from making itself an account that lasts. The token for the server's own host has all
// rights of its user, and no scopes.
func (a Actor) notByToken(r Role) error {
	if r.mighty() && len(a.Scopes) > 0 {
		return &Error{Code: EForbidden, Reason: "sign_in", Message: "Accounts of admins cannot be made or changed with an API token.", Hint: "Sign in at the portal and do it there."}
	}
	return nil
}

func roleNames() []string {
	names := make([]string, len(Roles))
	for i, r := range Roles {
		names[i] = string(r)
	}
	return names
}

// MayManage tells whether an actor may change, reset or delete an account: nobody does so with one that is mightier.
func (u User) MayManage(who Actor) error {
	if u.Role.above(who.Role) {
		return &Error{Code: EForbidden, Reason: "role", Message: fmt.Sprintf("%s is %s; only a %s can change that account.", u.Name, u.Role, u.Role)}
	}
	return who.notByToken(u.Role)
}

// Spare tells whether the others can do without an account as it is now: the last superadmin of the installation and the last
// admin of a tenant stay.
func (o Others) Spare(u User) error {
	last := func(what string) error {
		return &Error{Code: EConflict, Reason: "last_admin", Message: fmt.Sprintf("%s is the last %s.", u.Name, what), Hint: "Give somebody else that role first."}
	}
	switch {
	case u.Disabled():
		return nil
	case u.Role == RoleSuperadmin && o.Superadmins == 0:
		return last("superadmin of this installation")
	case u.Role.mighty() && o.Admins == 0:
		return last(fmt.Sprintf("admin of the tenant %q", u.Tenant))
	}
	return nil
}

// Apply gives an account as the change wants it, or says why it may not be. Groups are the store's to judge.
func (c UserChange) Apply(who Actor, u User, others Others, at time.Time) (User, error) {
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
		if err := who.mayGive(*c.Role, u.Tenant); err != nil {
			return u, err
		}
		if *c.Role == RoleRobot || u.Role == RoleRobot {
			return u, &Error{Code: EConflict, Field: "role", Message: "A person does not become a robot, nor a robot a person.", Hint: "Make another account."}
		}
		after.Role = *c.Role
	}
	if after.Disabled() || !after.Role.mighty() || u.Role == RoleSuperadmin && after.Role != RoleSuperadmin {
		left := others
		if !after.Disabled() && after.Role.mighty() {
			left.Admins++ // a superadmin that becomes admin still looks after its tenant
		}
		if err := left.Spare(u); err != nil {
			return u, err
		}
	}
	return after, nil
}

// newUser checks an account about to be made in a tenant.
func (a *App) newUser(actor Actor, tenant string, n NewUser) (User, error) {
	u := User{Tenant: tenant, Name: n.Name, FullName: n.FullName, Email: n.Email, Role: n.Role, CreatedAt: a.Now(), CreatedBy: actor.Name()}
	for _, err := range []error{checkUserName(n.Name), checkText("full_name", n.FullName, 200), checkEmail(n.Email), actor.mayGive(n.Role, tenant)} {
		if err != nil {
			return u, err
		}
	}
	if len(n.Groups) > mostInOneCall {
		return u, &Error{Code: ETooLarge, Field: "groups", Message: fmt.Sprintf("At most %d groups can be set at once.", mostInOneCall)}
	}
	u.Groups = slices.Compact(slices.Sorted(slices.Values(n.Groups)))
	return u, nil
}

// Users lists accounts of the tenant by name, and tells whether there are more.
func (a *App) Users(ctx context.Context, actor Actor, f UserFilter) (users []User, more bool, err error) {
	if err := actor.may("Users"); err != nil {
		return nil, false, err
	}
	if f.Role != "" && !f.Role.Known() {
		return nil, false, &Error{Code: EInvalid, Field: "role", Message: fmt.Sprintf("There is no role %q.", f.Role), Hint: "Use one of " + orList(roleNames()) + "."}
	}
	if f.Limit <= 0 {
		f.Limit = 100
	}
	f.Limit = min(f.Limit, 500)
	return a.Store.Users(ctx, actor.Tenant, f)
}

// User shows an account of the tenant; those who are no admins only their own.
func (a *App) User(ctx context.Context, actor Actor, name string) (UserView, error) {
	if err := actor.mayTouch("User", name, fmt.Sprintf("account %q", name)); err != nil {
		return UserView{}, err
	}
	return a.Store.UserView(ctx, actor.Tenant, name)
}

// CreateUser makes an account in the tenant and gives its one-time password; "" for robots, which have none.
func (a *App) CreateUser(ctx context.Context, actor Actor, n NewUser) (v UserView, password string, err error) {
	if err := actor.may("CreateUser"); err != nil {
		return v, "", err
	}
	if n.Role.rules() {
		if err := actor.mustProve(); err != nil {
			return v, "", err
		}
	}
	u, err := a.newUser(actor, actor.Tenant, n)
	if err != nil {
		return v, "", err
	}
	if u.Role != RoleRobot {
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
func (a *App) ChangeUser(ctx context.Context, actor Actor, name string, c UserChange) (UserView, error) {
	if err := actor.may("ChangeUser"); err != nil {
		return UserView{}, err
	}
	if c.FullName != nil {
		if err := checkText("full_name", *c.FullName, 200); err != nil {
			return UserView{}, err
		}
	}
	if c.Email != nil {
		if err := checkEmail(*c.Email); err != nil {
			return UserView{}, err
		}
	}
	if c.Groups != nil && len(*c.Groups) > mostInOneCall {
		return UserView{}, &Error{Code: ETooLarge, Field: "groups", Message: fmt.Sprintf("At most %d groups can be set at once.", mostInOneCall)}
	}
	if c.Role != nil && c.Role.rules() {
		was, err := a.Store.UserView(ctx, actor.Tenant, name)
		if err != nil {
			return UserView{}, err
		}
		if was.Role != *c.Role {
			if err := actor.mustProve(); err != nil {
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
func (a *App) ResetUserPassword(ctx context.Context, actor Actor, name string) (string, error) {
	if err := actor.may("ResetUserPassword"); err != nil {
		return "", err
	}
	if name == actor.User && actor.Home == "" {
		return "", &Error{Code: EConflict, Reason: "own", Message: "Your own password is changed on your account page, with the one that you have."}
	}
	password := NewPassword()
	return password, a.Store.ResetPassword(ctx, actor, name, HashPassword(password), a.Now())
}

// DeleteUser drops an account of the tenant with its tokens. EConflict while it owns live clusters and nobody is named who gets
// them.
func (a *App) DeleteUser(ctx context.Context, actor Actor, name, transferTo string) error {
	if err := actor.may("DeleteUser"); err != nil {
		return err
	}
	if transferTo == name {
		return &Error{Code: EInvalid, Field: "transfer_to", Message: "The clusters must go to somebody else."}
	}
	return a.Store.DeleteUser(ctx, actor, name, transferTo, a.Now())
}
