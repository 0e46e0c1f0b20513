package signin

import (
	"context"
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/app/store/db"
	identitydb "muster/app/store/identity"
	"muster/app/store/session"
	userdb "muster/app/store/user"
)

// fromOIDC is the source of memberships that identity providers name.
const fromOIDC = "oidc"

// UserOfSubject implements identity.StepUpStore. An account that was made again under an old name is someone else's.
func (s *Store) UserOfSubject(ctx context.Context, issuer, subject, tenant string) (user string, err error) {
	err = s.Row(ctx, subjectUser, issuer, subject, tenant).Scan(&user)
	if db.IsNoRows(err) {
		err = app.Errorf(app.ENotFound, "This person has no account.")
	}
	return user, err
}

const subjectUser = `SELECT j.user_name FROM sso_subjects j JOIN users u ON u.tenant = j.tenant AND u.name = j.user_name AND u.created_at <= j.at
	WHERE j.issuer = ? AND j.subject = ? AND j.tenant = ?`

func (s *Store) AdmitSubject(ctx context.Context, p identity.Subject, g identity.Grant, at time.Time) (u identity.User, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		u, err = admit(t, p, g, at)
		return err
	})
	return u, err
}

func admit(t *db.Tx, p identity.Subject, g identity.Grant, at time.Time) (identity.User, error) {
	var closed int64
	switch err := t.Row(`SELECT deleting_at FROM tenants WHERE name = ?`, g.Tenant).Scan(&closed); {
	case db.IsNoRows(err), err == nil && closed != 0:
		return identity.User{}, &app.Error{Code: app.ENotFound, Reason: "no_tenant", Message: fmt.Sprintf("Your groups have access to tenant %q, which doesn't exist.", g.Tenant),
			Hint: "Ask a superadmin to create the tenant."}
	case err != nil:
		return identity.User{}, err
	}
	var name string
	err := t.Row(subjectUser, p.Issuer, p.ID, g.Tenant).Scan(&name)
	if err != nil && !db.IsNoRows(err) {
		return identity.User{}, err
	}
	if db.IsNoRows(err) {
		if name, err = newcomer(t, p, g, at); err != nil {
			return identity.User{}, err
		}
	}
	who := app.Actor{Tenant: g.Tenant, User: name, Via: app.ViaPortal}
	before, err := userdb.Read(t, g.Tenant, name)
	if err != nil {
		return before, err
	}
	if err := identitydb.SetGroupsFrom(t, g.Tenant, name, fromOIDC, g.Groups, at); err != nil {
		return before, err
	}
	if _, err := t.Count(`UPDATE users SET role = ?, full_name = ?, email = ? WHERE tenant = ? AND name = ?`, g.Role, p.FullName, p.Email, g.Tenant, name); err != nil {
		return before, err
	}
	after, err := userdb.Read(t, g.Tenant, name)
	if err != nil {
		return after, err
	}
	if before.Role != after.Role || before.FullName != after.FullName || before.Email != after.Email {
		err = t.AddAudit(at, who, "user.claims", name, userdb.Facts(before), userdb.Facts(after))
	}
	return after, err
}

// newcomer makes the account of a person who has none in the tenant yet. A name that someone has is never shared: an identity
// provider could otherwise hand out the accounts of others.
func newcomer(t *db.Tx, p identity.Subject, g identity.Grant, at time.Time) (string, error) {
	var n int
	if err := t.Row(`SELECT count(*) FROM users WHERE tenant = ? AND name = ?`, g.Tenant, p.Name).Scan(&n); err != nil {
		return "", err
	}
	if n > 0 {
		return "", &app.Error{Code: app.EConflict, Reason: "name_taken", Message: fmt.Sprintf("Account %q already exists in tenant %q, and isn't linked to %s.", p.Name, g.Tenant, p.Label),
			Hint: "Ask an admin of the tenant to change one of the names."}
	}
	u := identity.User{Tenant: g.Tenant, Name: p.Name, FullName: p.FullName, Email: p.Email, Role: g.Role, CreatedAt: at, CreatedBy: p.Provider}
	if err := userdb.Add(t, app.Actor{Tenant: g.Tenant, User: p.Name, Via: app.ViaPortal}, u); err != nil {
		return "", err
	}
	// A row may be left of an account that is gone.
	if err := t.Exec(`DELETE FROM sso_subjects WHERE tenant = ? AND (user_name = ? OR issuer = ? AND subject = ?)`, g.Tenant, p.Name, p.Issuer, p.ID); err != nil {
		return "", err
	}
	return p.Name, t.Exec(`INSERT INTO sso_subjects (issuer, subject, tenant, user_name, at)
		VALUES (?, ?, ?, ?, ?)`, p.Issuer, p.ID, g.Tenant, p.Name, db.Micros(at))
}

func (s *Store) DismissSubject(ctx context.Context, p identity.Subject, except []string, at time.Time) error {
	var accounts []identity.User
	err := s.Each(ctx, func(row db.Scanner) error {
		var u identity.User
		if err := row.Scan(&u.Tenant, &u.Name); err != nil {
			return err
		}
		if !slices.Contains(except, u.Tenant) {
			accounts = append(accounts, u)
		}
		return nil
	}, `SELECT j.tenant, j.user_name FROM sso_subjects j JOIN users u ON u.tenant = j.tenant AND u.name = j.user_name AND u.created_at <= j.at
		WHERE j.issuer = ? AND j.subject = ?`, p.Issuer, p.ID)
	if err != nil || len(accounts) == 0 {
		return err // as nearly always: nothing to write
	}
	return s.Write(ctx, func(t *db.Tx) error {
		for _, u := range accounts {
			who := app.Actor{Tenant: u.Tenant, User: u.Name, Via: app.ViaPortal}
			ended, err := session.Revoke(t, who, u.Name, 0, 0, at)
			if err != nil {
				return err
			}
			if err := identitydb.SetGroupsFrom(t, u.Tenant, u.Name, fromOIDC, nil, at); err != nil {
				return err
			}
			tokens, err := t.Count(`DELETE FROM api_tokens WHERE tenant = ? AND user_name = ?`, u.Tenant, u.Name)
			if err != nil {
				return err
			}
			if ended > 0 || tokens > 0 {
				if err := t.AddAudit(at, who, "user.dismiss", u.Name, nil, map[string]any{"provider": p.Provider, "sign_ins": ended, "tokens": tokens}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
