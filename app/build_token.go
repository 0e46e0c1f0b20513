package app

import (
	"context"
	"crypto/hmac"
	"time"
)

// BuildKey names a build to those who have no account, with the token that they were given for it.
type BuildKey struct {
	Hook  string // the id in its address
	Build int64
	Token string
}

// errBuildToken says the same of hooks, builds and tokens that are not there.
var errBuildToken = &Error{Code: EUnauthorized, Reason: "token", Message: "There is no such build, or the token is not its own.",
	Hint: "A token is given with the answer to each signed delivery that is about the build."}

// buildOfToken gives the build that a token is for. It opens that one, and nothing else.
func (a *App) buildOfToken(ctx context.Context, k BuildKey) (DueBuild, error) {
	key, err := a.Store.BuildTokenKey(ctx, k.Hook)
	switch {
	case CodeOf(err) == ENotFound:
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
	if err == nil || CodeOf(err) == ENotFound {
		return DueBuild{}, errBuildToken
	}
	return DueBuild{}, err
}

// buildAccess is buildOfToken for what is to be had only while a build's cluster is ready. It is done as the hook's owner.
func (a *App) buildAccess(ctx context.Context, k BuildKey) (Build, Actor, error) {
	d, err := a.buildOfToken(ctx, k)
	if err != nil {
		return d.Build, Actor{}, err
	}
	owner, why, err := a.buildOwner(ctx, d.Of)
	switch {
	case err != nil:
		return d.Build, owner, err
	case why != "":
		return d.Build, owner, &Error{Code: EForbidden, Message: why}
	case d.Shown().State != BuildReady:
		return d.Build, owner, &Error{Code: EConflict, Reason: "not_ready", Message: "The build's cluster is not ready; the build is " + string(d.Shown().State) + ".", Hint: "Wait for it."}
	}
	return d.Build, owner, nil
}

// AwaitBuildBy is AwaitBuild for whoever has the build's token. Where it ended it still says so.
func (a *App) AwaitBuildBy(ctx context.Context, k BuildKey, wait time.Duration) (BuildView, error) {
	d, err := a.buildOfToken(ctx, k)
	if err != nil {
		return BuildView{}, err
	}
	return a.awaitBuild(ctx, wait, func() (BuildView, error) { return a.buildView(ctx, Actor{Tenant: d.Tenant}, k.Build) })
}

// EndBuildBy is EndBuild for whoever has the build's token.
func (a *App) EndBuildBy(ctx context.Context, k BuildKey) (BuildView, error) {
	d, err := a.buildOfToken(ctx, k)
	if err != nil {
		return BuildView{}, err
	}
	if err := a.Store.EndBuild(ctx, d.asOwner(), d.Build, "The build has said that it is done.", a.Now()); err != nil {
		return BuildView{}, err
	}
	return a.buildView(ctx, Actor{Tenant: d.Tenant}, k.Build)
}

// ExtendBuildBy is ExtendBuild for whoever has the build's token.
func (a *App) ExtendBuildBy(ctx context.Context, k BuildKey, by time.Duration) (BuildView, error) {
	b, owner, err := a.buildAccess(ctx, k)
	if err != nil {
		return BuildView{}, err
	}
	if by <= 0 {
		return BuildView{}, &Error{Code: EInvalid, Field: "by", Message: "A build can only move its end further away.", Hint: "To give the cluster back, end the build."}
	}
	if err := a.extendBuild(ctx, owner, b, by); err != nil {
		return BuildView{}, err
	}
	return a.buildView(ctx, Actor{Tenant: b.Tenant}, k.Build)
}

// BuildClusterBy gives the cluster of a build that is ready, to whoever has the build's token.
func (a *App) BuildClusterBy(ctx context.Context, k BuildKey) (ClusterView, error) {
	b, owner, err := a.buildAccess(ctx, k)
	if err != nil {
		return ClusterView{}, err
	}
	return a.Cluster(ctx, owner, b.Cluster)
}

// BuildKeyBy gives the private key of a build's cluster, as ClusterKey does, to whoever has the build's token. It stands in the audit.
func (a *App) BuildKeyBy(ctx context.Context, k BuildKey) (user string, pem []byte, err error) {
	b, owner, err := a.buildAccess(ctx, k)
	if err != nil {
		return "", nil, err
	}
	return a.ClusterKey(ctx, owner, b.Cluster)
}

// BuildCertificateBy signs a public key for a build's cluster, as ClusterCertificate does, for whoever has the build's token.
func (a *App) BuildCertificateBy(ctx context.Context, k BuildKey, publicKey string, ttl time.Duration) (Certificate, error) {
	b, owner, err := a.buildAccess(ctx, k)
	if err != nil {
		return Certificate{}, err
	}
	return a.ClusterCertificate(ctx, owner, b.Cluster, publicKey, ttl)
}
