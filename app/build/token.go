package build

import (
	"context"
	"crypto/hmac"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/sshaccess"
)

// AccessStore knows builds and the keys of their tokens.
type AccessStore interface {
	Build(ctx context.Context, tenant string, id int64) (Build, error)
	// BuildHookAt returns the hook of an address with the secrets that count now, the newest first; ENotFound where there is none.
	BuildHookAt(ctx context.Context, id string, now time.Time) (h BuildHook, secrets []string, err error)
	// BuildTokenKey returns what tokens of a hook's builds are made from.
	BuildTokenKey(ctx context.Context, id string) ([]byte, error)
	EndBuild(ctx context.Context, who app.Actor, b Build, words string, now time.Time) error
}

// AccessConfig is what Access is created from. Only what says so may be nil.
type AccessConfig struct {
	Store  AccessStore
	Now    func() time.Time
	Views  *cluster.Views
	Access *sshaccess.Service

	Builds *Builds
	Hooks  *Hooks
}

// Access is for builds themselves, which have no account: each asks with a token for what is its own.
type Access struct {
	AccessConfig
}

// NewAccess returns them on top of what c holds.
func NewAccess(c AccessConfig) *Access { return &Access{AccessConfig: c} }

// Key names a build to those who have no account, with the token that they were given for it.
type Key struct {
	Hook  string // the id in its address
	Build int64
	Token string
}

// errBuildToken says the same of hooks, builds and tokens that are not there.
var errBuildToken = &app.Error{Code: app.EUnauthorized, Reason: "token", Message: "The build doesn't exist, or the token belongs to another build.",
	Hint: "The response to each signed delivery for the build contains its token."}

// buildOfToken returns the build that a token is for. It opens that one, and nothing else.
func (a *Access) buildOfToken(ctx context.Context, k Key) (DueBuild, error) {
	key, err := a.Store.BuildTokenKey(ctx, k.Hook)
	switch {
	case app.CodeOf(err) == app.ENotFound:
		key = make([]byte, 32) // so that it takes as long
	case err != nil:
		return DueBuild{}, err
	}
	if right := hmac.Equal([]byte(buildToken(key, k.Build)), []byte(k.Token)); err != nil || !right {
		return DueBuild{}, errBuildToken
	}
	h, _, err := a.Store.BuildHookAt(ctx, k.Hook, a.Now())
	if err == nil {
		var b Build
		if b, err = a.Store.Build(ctx, h.Tenant, k.Build); err == nil && b.HookID == h.ID {
			return DueBuild{Build: b, Of: h}, nil
		}
	}
	if err == nil || app.CodeOf(err) == app.ENotFound {
		return DueBuild{}, errBuildToken
	}
	return DueBuild{}, err
}

// buildAccess is buildOfToken for what is to be had only while a build's cluster is ready. It is done as the hook's owner.
func (a *Access) buildAccess(ctx context.Context, k Key) (Build, app.Actor, error) {
	d, err := a.buildOfToken(ctx, k)
	if err != nil {
		return d.Build, app.Actor{}, err
	}
	owner, why, err := a.Hooks.buildOwner(ctx, d.Of)
	switch {
	case err != nil:
		return d.Build, owner, err
	case why != "":
		return d.Build, owner, &app.Error{Code: app.EForbidden, Message: why}
	case d.Shown().State != app.BuildReady:
		return d.Build, owner, &app.Error{Code: app.EConflict, Reason: "not_ready", Message: "The build's cluster isn't ready; the build is " + string(d.Shown().State) + ".", Hint: "Try again once it's ready."}
	}
	return d.Build, owner, nil
}

// AwaitBuildBy is AwaitBuild for anyone with the build's token. Where it ended it still says so.
func (a *Access) AwaitBuildBy(ctx context.Context, k Key, wait time.Duration) (View, error) {
	d, err := a.buildOfToken(ctx, k)
	if err != nil {
		return View{}, err
	}
	return a.Builds.awaitBuild(ctx, wait, func() (View, error) { return a.Builds.buildView(ctx, app.Actor{Tenant: d.Tenant}, k.Build) })
}

// EndBuildBy is EndBuild for anyone with the build's token.
func (a *Access) EndBuildBy(ctx context.Context, k Key) (View, error) {
	d, err := a.buildOfToken(ctx, k)
	if err != nil {
		return View{}, err
	}
	if err := a.Store.EndBuild(ctx, d.asOwner(), d.Build, "The build reported that it's done.", a.Now()); err != nil {
		return View{}, err
	}
	return a.Builds.buildView(ctx, app.Actor{Tenant: d.Tenant}, k.Build)
}

// ExtendBuildBy is ExtendBuild for anyone with the build's token.
func (a *Access) ExtendBuildBy(ctx context.Context, k Key, by time.Duration) (View, error) {
	b, owner, err := a.buildAccess(ctx, k)
	if err != nil {
		return View{}, err
	}
	if by <= 0 {
		return View{}, &app.Error{Code: app.EInvalid, Field: "by", Message: "A build can only extend its lease.", Hint: "To delete the cluster, end the build."}
	}
	if err := a.Builds.extendBuild(ctx, owner, b, by); err != nil {
		return View{}, err
	}
	return a.Builds.buildView(ctx, app.Actor{Tenant: b.Tenant}, k.Build)
}

// BuildClusterBy returns the cluster of a build that is ready, to anyone with the build's token.
func (a *Access) BuildClusterBy(ctx context.Context, k Key) (cluster.View, error) {
	b, owner, err := a.buildAccess(ctx, k)
	if err != nil {
		return cluster.View{}, err
	}
	return a.Views.Cluster(ctx, owner, b.Cluster)
}

// BuildKeyBy returns the private key of a build's cluster, as ClusterKey does, to anyone with the build's token. It is in the audit.
func (a *Access) BuildKeyBy(ctx context.Context, k Key) (user string, pem []byte, err error) {
	b, owner, err := a.buildAccess(ctx, k)
	if err != nil {
		return "", nil, err
	}
	return a.Access.ClusterKey(ctx, owner, b.Cluster)
}

// BuildCertificateBy signs a public key for a build's cluster, as ClusterCertificate does, for anyone with the build's token.
func (a *Access) BuildCertificateBy(ctx context.Context, k Key, publicKey string, ttl time.Duration) (sshaccess.ClusterCertificate, error) {
	b, owner, err := a.buildAccess(ctx, k)
	if err != nil {
		return sshaccess.ClusterCertificate{}, err
	}
	return a.Access.ClusterCertificate(ctx, owner, b.Cluster, publicKey, ttl)
}
