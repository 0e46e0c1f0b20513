package site

import (
	"context"

	"muster/app"
	"muster/app/identity"
	"muster/app/settings"
)

// SignIns are how people and programs come and go.
type SignIns interface {
	// SignIn checks a password and begins a sign-in. EUnauthorized says that user and password do not fit together.
	SignIn(ctx context.Context, tenant, user, password string, v identity.Visit) (identity.Session, error)
	SignInBy(ctx context.Context, s identity.Subject, tenant string, v identity.Visit) (identity.Session, error)
	// PendingFactors and FinishSignIn take the session that SignIn left pending; EUnauthorized with reason expired where the password must be entered again.
	PendingFactors(ctx context.Context, pending identity.Session) (identity.SecondFactors, error)
	FinishSignIn(ctx context.Context, pending identity.Session, f identity.FactorProof, v identity.Visit) (identity.Session, error)
	// ActorOfSession returns who a sign-in stands for now; EUnauthorized where it does not count any more, saying why.
	ActorOfSession(ctx context.Context, id int64, v identity.Visit) (app.Actor, error)
	// SignOut ends a sign-in; one that is over is success.
	SignOut(ctx context.Context, id int64) error
	// ActorOfToken returns whom a bearer token stands for; EUnauthorized for a token that no one has. From is where it came from.
	ActorOfToken(ctx context.Context, token, from string) (app.Actor, error)
	// KnownAddress tells whether an account was signed in to from an address before.
	KnownAddress(ctx context.Context, tenant, user, address string) bool
}

// Accounts are how people look after their own account, and admins after sign-ins and identities of others.
type Accounts interface {
	// Sessions lists sign-ins; those of the actor where user is "".
	Sessions(ctx context.Context, a app.Actor, user string) ([]identity.Session, error)
	RevokeSession(ctx context.Context, a app.Actor, user string, id int64) error
	// RevokeAllSessions ends all but the one that asks.
	RevokeAllSessions(ctx context.Context, a app.Actor, user string) (int, error)
	// ChangePassword is EUnauthorized where the old one does not fit, EInvalid where the new one will not do.
	ChangePassword(ctx context.Context, a app.Actor, old, wanted string) error
	// StepUp takes the second factor too, of accounts that have one.
	StepUp(ctx context.Context, a app.Actor, password string, f identity.FactorProof) error
	StepUpBy(ctx context.Context, a app.Actor, issuer, subject string) error
	ShowLink(ctx context.Context, a app.Actor, token string) (identity.IdentityLink, error)
	ConfirmLink(ctx context.Context, a app.Actor, token string) (identity.Identity, error)
	Identities(ctx context.Context, a app.Actor, user string) ([]identity.Identity, error)
	RemoveIdentity(ctx context.Context, a app.Actor, user, kind, external string) error
}

// Factors are the second factors of an account, and who needs one.
type Factors interface {
	SecondFactors(ctx context.Context, a app.Actor) (identity.SecondFactors, error)
	StartAuthenticator(ctx context.Context, a app.Actor) (secret string, err error)
	// ConfirmAuthenticator and AddSecurityKey return recovery codes with the account's first factor.
	ConfirmAuthenticator(ctx context.Context, a app.Actor, code string) ([]string, error)
	AddSecurityKey(ctx context.Context, a app.Actor, name string, record []byte) ([]string, error)
	RemoveSecondFactor(ctx context.Context, a app.Actor, id string) error
	ReplaceRecoveryCodes(ctx context.Context, a app.Actor) ([]string, error)
	ResetSecondFactor(ctx context.Context, a app.Actor, user string) error
	RequireSecondFactor(ctx context.Context, a app.Actor, required bool) error
}

// Users say who works in a tenant, and as what.
type Users interface {
	// Users returns accounts by name, and whether there are more.
	Users(ctx context.Context, a app.Actor, f identity.UserFilter) ([]identity.User, bool, error)
	User(ctx context.Context, a app.Actor, name string) (identity.UserView, error)
	// CreateUser gives the one-time password, which cannot be read again; "" for robots.
	CreateUser(ctx context.Context, a app.Actor, n identity.NewUser) (identity.UserView, string, error)
	ChangeUser(ctx context.Context, a app.Actor, name string, c identity.UserChange) (identity.UserView, error)
	// ResetUserPassword gives a new one-time password.
	ResetUserPassword(ctx context.Context, a app.Actor, name string) (string, error)
	// DeleteUser is EConflict while the user owns live clusters and transferTo is "".
	DeleteUser(ctx context.Context, a app.Actor, name, transferTo string) error
}

// Groups are what policies, approvals and quotas name.
type Groups interface {
	Groups(ctx context.Context, a app.Actor) ([]identity.Group, error)
	SaveGroup(ctx context.Context, a app.Actor, c identity.GroupChange) (identity.Group, error)
	DeleteGroup(ctx context.Context, a app.Actor, name string) error
}

// Tokens are with what programs act here.
type Tokens interface {
	// Tokens returns the actor's own, or for admins those of the tenant; user narrows it.
	Tokens(ctx context.Context, a app.Actor, user string) ([]identity.Token, error)
	// CreateToken and CreateRobotToken give the token, which cannot be read again.
	CreateToken(ctx context.Context, a app.Actor, n identity.NewAPIToken) (identity.Token, string, error)
	CreateRobotToken(ctx context.Context, a app.Actor, n identity.NewAPIToken) (identity.Token, string, error)
	RevokeToken(ctx context.Context, a app.Actor, id int64) error
	EndToken(ctx context.Context, a app.Actor) (identity.Token, error)
}

// Devices are programs that are let in by people who say yes at the portal.
type Devices interface {
	StartDevice(ctx context.Context, host, agent, from string, wanted []app.Scope) (identity.DeviceCodes, error)
	PollDevice(ctx context.Context, code string) (identity.Token, string, error)
	ShowDevice(ctx context.Context, a app.Actor, code string) (identity.Device, error)
	AnswerDevice(ctx context.Context, a app.Actor, code string, yes bool, scopes []app.Scope) error
}

// Tenants are the parts of the installation; superadmins may act in each.
type Tenants interface {
	Tenants(ctx context.Context, a app.Actor) ([]identity.Tenant, error)
	TenantNames(ctx context.Context, a app.Actor) ([]string, error)
	Tenant(ctx context.Context, a app.Actor, name string) (identity.Tenant, error)
	// CreateTenant gives the one-time password of its first admin, where one is named.
	CreateTenant(ctx context.Context, a app.Actor, n identity.NewTenant) (identity.Tenant, string, error)
	ChangeTenant(ctx context.Context, a app.Actor, name string, c identity.TenantChange) (identity.Tenant, error)
	// DeleteTenant is EConflict as long as anything of it may stand in a cloud.
	DeleteTenant(ctx context.Context, a app.Actor, name string) error
	// ActIn returns the actor as it acts in another tenant.
	ActIn(ctx context.Context, a app.Actor, tenant string) (app.Actor, error)
}

// TenantSettings are all that admins of a tenant have set: written down, and brought in from a file.
type TenantSettings interface {
	ExportTenant(ctx context.Context, a app.Actor) (settings.TenantFile, error)
	// CheckTenant says what an import would do. Nothing is changed.
	CheckTenant(ctx context.Context, a app.Actor, in settings.TenantImport) (settings.TenantReport, error)
	// ImportTenant does all of it or nothing. What is wrong with the file is no error but problems of the report. EConflict, reason
	// tenant_moved, where the settings are not those any more that AsOf names.
	ImportTenant(ctx context.Context, a app.Actor, in settings.TenantImport) (settings.TenantReport, error)
}

// Audit tells who did what. Admins see their tenant, superadmins all.
type Audit interface {
	Audit(ctx context.Context, a app.Actor, f app.AuditFilter) ([]app.Deed, bool, error)
	ExportAudit(ctx context.Context, a app.Actor, f app.AuditFilter, each func(app.Deed) error) error
	VerifyAudit(ctx context.Context, a app.Actor, tenant string) ([]identity.AuditProof, error)
	// NoteRefusal keeps that someone was refused.
	NoteRefusal(ctx context.Context, r identity.Refusal)
}
