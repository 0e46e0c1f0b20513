package site

import (
	"context"

	"muster/app"
	"muster/app/identity"
	"muster/app/settings"
)

// SignIns signs people and programs in and out.
type SignIns interface {
	// SignIn checks a password and starts a sign-in. EUnauthorized if user or password is wrong.
	SignIn(ctx context.Context, tenant, user, password string, v identity.Visit) (identity.Session, error)
	SignInBy(ctx context.Context, s identity.Subject, tenant string, v identity.Visit) (identity.Session, error)
	// PendingFactors and FinishSignIn take SignIn's pending session; EUnauthorized, reason expired, if the password must be entered again.
	PendingFactors(ctx context.Context, pending identity.Session) (identity.SecondFactors, error)
	FinishSignIn(ctx context.Context, pending identity.Session, f identity.FactorProof, v identity.Visit) (identity.Session, error)
	// ActorOfSession returns a sign-in's actor; EUnauthorized, with the reason, if it's no longer valid.
	ActorOfSession(ctx context.Context, id int64, v identity.Visit) (app.Actor, error)
	// SignOut ends a sign-in; ending it twice is no error.
	SignOut(ctx context.Context, id int64) error
	// ActorOfToken returns a bearer token's actor; EUnauthorized for an unknown token. From is the client's address.
	ActorOfToken(ctx context.Context, token, from string) (app.Actor, error)
	// KnownAddress reports whether an account was signed in to from an address before.
	KnownAddress(ctx context.Context, tenant, user, address string) bool
	// HasPassword reports whether an account has a password in Muster. For others, ProveBy asks directories, and SignInBy signs in.
	HasPassword(ctx context.Context, tenant, user string) (bool, error)
	ProveBy(ctx context.Context, d []identity.Directory, tenant, user, password string, v identity.Visit) (identity.Subject, error)
}

// Accounts manages people's own accounts and, for admins, others' sign-ins and identities.
type Accounts interface {
	// Sessions lists sign-ins; the actor's own if user is "".
	Sessions(ctx context.Context, a app.Actor, user string) ([]identity.Session, error)
	RevokeSession(ctx context.Context, a app.Actor, user string, id int64) error
	// RevokeAllSessions ends all sign-ins except the current one.
	RevokeAllSessions(ctx context.Context, a app.Actor, user string) (int, error)
	// ChangePassword is EUnauthorized if the old password is wrong, EInvalid if the new one isn't acceptable.
	ChangePassword(ctx context.Context, a app.Actor, old, wanted string) error
	// StepUp also takes the second factor of accounts that have one.
	StepUp(ctx context.Context, a app.Actor, password string, f identity.FactorProof) error
	StepUpBy(ctx context.Context, a app.Actor, issuer, subject string) error
	ShowLink(ctx context.Context, a app.Actor, token string) (identity.Link, error)
	ConfirmLink(ctx context.Context, a app.Actor, token string) (identity.Identity, error)
	Identities(ctx context.Context, a app.Actor, user string) ([]identity.Identity, error)
	RemoveIdentity(ctx context.Context, a app.Actor, user, kind, external string) error
}

// Factors manages second factors, and who needs one.
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

// Emails changes the address of one's own account.
type Emails interface {
	OwnEmail(ctx context.Context, a app.Actor) (identity.OwnEmail, error)
	// ChangeEmail emails a link to the new address; ResendEmail does so again.
	ChangeEmail(ctx context.Context, a app.Actor, address string) error
	ResendEmail(ctx context.Context, a app.Actor) error
	CancelEmailChange(ctx context.Context, a app.Actor) error
	// ShowEmailChange and ConfirmEmail are EConflict for a link that doesn't work, or not for the actor.
	ShowEmailChange(ctx context.Context, a app.Actor, token string) (address string, err error)
	ConfirmEmail(ctx context.Context, a app.Actor, token string) (address string, err error)
}

// Users manages a tenant's accounts.
type Users interface {
	// Users returns accounts sorted by name, and whether there are more.
	Users(ctx context.Context, a app.Actor, f identity.UserFilter) ([]identity.User, bool, error)
	User(ctx context.Context, a app.Actor, name string) (identity.UserView, error)
	// CreateUser returns the one-time password, which can't be read again; "" for robots.
	CreateUser(ctx context.Context, a app.Actor, n identity.NewUser) (identity.UserView, string, error)
	ChangeUser(ctx context.Context, a app.Actor, name string, c identity.UserChange) (identity.UserView, error)
	// ResetUserPassword returns a new one-time password.
	ResetUserPassword(ctx context.Context, a app.Actor, name string) (string, error)
	// DeleteUser is EConflict while the user owns live clusters and transferTo is "".
	DeleteUser(ctx context.Context, a app.Actor, name, transferTo string) error
}

// Groups manages groups of users.
type Groups interface {
	Groups(ctx context.Context, a app.Actor) ([]identity.Group, error)
	SaveGroup(ctx context.Context, a app.Actor, c identity.GroupChange) (identity.Group, error)
	DeleteGroup(ctx context.Context, a app.Actor, name string) error
}

// Tokens manages API tokens.
type Tokens interface {
	// Tokens returns the actor's own tokens or, for admins, the tenant's; user filters them.
	Tokens(ctx context.Context, a app.Actor, user string) ([]identity.Token, error)
	// CreateToken and CreateRobotToken return the token, which can't be read again.
	CreateToken(ctx context.Context, a app.Actor, n identity.NewAPIToken) (identity.Token, string, error)
	CreateRobotToken(ctx context.Context, a app.Actor, n identity.NewAPIToken) (identity.Token, string, error)
	RevokeToken(ctx context.Context, a app.Actor, id int64) error
	EndToken(ctx context.Context, a app.Actor) (identity.Token, error)
}

// Devices signs in programs that people approve in the portal.
type Devices interface {
	StartDevice(ctx context.Context, host, agent, from string, wanted []app.Scope) (identity.DeviceCodes, error)
	PollDevice(ctx context.Context, code string) (identity.Token, string, error)
	ShowDevice(ctx context.Context, a app.Actor, code string) (identity.Device, error)
	AnswerDevice(ctx context.Context, a app.Actor, code string, yes bool, scopes []app.Scope) error
}

// Tenants manages tenants; superadmins can act in each.
type Tenants interface {
	Tenants(ctx context.Context, a app.Actor) ([]identity.Tenant, error)
	TenantNames(ctx context.Context, a app.Actor) ([]string, error)
	Tenant(ctx context.Context, a app.Actor, name string) (identity.Tenant, error)
	// CreateTenant returns the one-time password of the first admin, if one is named.
	CreateTenant(ctx context.Context, a app.Actor, n identity.NewTenant) (identity.Tenant, string, error)
	ChangeTenant(ctx context.Context, a app.Actor, name string, c identity.TenantChange) (identity.Tenant, error)
	// DeleteTenant is EConflict while the tenant may have anything in a cloud.
	DeleteTenant(ctx context.Context, a app.Actor, name string) error
	// ActIn returns the actor in another tenant.
	ActIn(ctx context.Context, a app.Actor, tenant string) (app.Actor, error)
}

// TenantSettings exports and imports a tenant's settings.
type TenantSettings interface {
	ExportTenant(ctx context.Context, a app.Actor) (settings.TenantFile, error)
	// CheckTenant previews an import.
	CheckTenant(ctx context.Context, a app.Actor, in settings.TenantImport) (settings.TenantReport, error)
	// ImportTenant imports all settings or none. Errors in the file are problems of the report. EConflict, reason tenant_moved, if the
	// settings have changed since AsOf.
	ImportTenant(ctx context.Context, a app.Actor, in settings.TenantImport) (settings.TenantReport, error)
}

// Audit shows the audit log. Admins see their tenant, superadmins all.
type Audit interface {
	Audit(ctx context.Context, a app.Actor, f app.AuditFilter) ([]app.AuditEntry, bool, error)
	ExportAudit(ctx context.Context, a app.Actor, f app.AuditFilter, each func(app.AuditEntry) error) error
	VerifyAudit(ctx context.Context, a app.Actor, tenant string) ([]identity.AuditProof, error)
	// NoteRefusal records a denied action.
	NoteRefusal(ctx context.Context, r identity.Refusal)
}
