package build

import (
	"context"
	"crypto/hmac"
	"time"

	"muster/app"
	"muster/app/cluster"
)

// BuildKey names a build to those who have no account, with the token that they were given for it.
type BuildKey struct {
	Hook  string // the id in its address
	Build int64
	Token string
}

// errBuildToken says the same of hooks, builds and tokens that are not there.
var errBuildToken = &app.Error{Code: app.EUnauthorized, Reason: "token", Message: "There is no such build, or the token is not its own.",
	Hint: "A token is given with the answer to each signed delivery that is about the build."}

// buildOfToken gives the build that a token is for. It opens that one, and nothing else.
func (a *Service) buildOfToken(ctx context.Context, k BuildKey) (DueBuild, error) {
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
func (a *Service) buildAccess(ctx context.Context, k BuildKey) (Build, app.Actor, error) {
	d, err := a.buildOfToken(ctx, k)
	if err != nil {
		return d.Build, app.Actor{}, err
	}
	owner, why, err := a.buildOwner(ctx, d.Of)
	switch {
	case err != nil:
		return d.Build, owner, err
	case why != "":
		return d.Build, owner, &app.Error{Code: app.EForbidden, Message: why}
	case d.Shown().State != app.BuildReady:
		return d.Build, owner, &app.Error{Code: app.EConflict, Reason: "not_ready", Message: "The build's cluster is not ready; the build is " + string(d.Shown().State) + ".", Hint: "Wait for it."}
	}
	return d.Build, owner, nil
}

// AwaitBuildBy is AwaitBuild for whoever has the build's token. Where it ended it still says so.
func (a *Service) AwaitBuildBy(ctx context.Context, k BuildKey, wait time.Duration) (BuildView, error) {
	d, err := a.buildOfToken(ctx, k)
	if err != nil {
		return BuildView{}, err
	}
	return a.awaitBuild(ctx, wait, func() (BuildView, error) { return a.buildView(ctx, app.Actor{Tenant: d.Tenant}, k.Build) })
}

// EndBuildBy is EndBuild for whoever has the build's token.
func (a *Service) EndBuildBy(ctx context.Context, k BuildKey) (BuildView, error) {
	d, err := a.buildOfToken(ctx, k)
	if err != nil {
		return BuildView{}, err
	}
	if err := a.Store.EndBuild(ctx, d.AsOwner(), d.Build, "The build has said that it is done.", a.Now()); err != nil {
		return BuildView{}, err
	}
	return a.buildView(ctx, app.Actor{Tenant: d.Tenant}, k.Build)
}

// ExtendBuildBy is ExtendBuild for whoever has the build's token.
func (a *Service) ExtendBuildBy(ctx context.Context, k BuildKey, by time.Duration) (BuildView, error) {
	b, owner, err := a.buildAccess(ctx, k)
	if err != nil {
		return BuildView{}, err
	}
	if by <= 0 {
		return BuildView{}, &app.Error{Code: app.EInvalid, Field: "by", Message: "A build can only move its end further away.", Hint: "To give the cluster back, end the build."}
	}
	if err := a.extendBuild(ctx, owner, b, by); err != nil {
		return BuildView{}, err
	}
	return a.buildView(ctx, app.Actor{Tenant: b.Tenant}, k.Build)
}

// BuildClusterBy gives the cluster of a build that is ready, to whoever has the build's token.
func (a *Service) BuildClusterBy(ctx context.Context, k BuildKey) (cluster.ClusterView, error) {
	b, owner, err := a.buildAccess(ctx, k)
	if err != nil {
		return cluster.ClusterView{}, err
	}
	return a.Views.Cluster(ctx, owner, b.Cluster)
}

// BuildKeyBy gives the private key of a build's cluster, as ClusterKey does, to whoever has the build's token. It stands in the audit.
func (a *Service) BuildKeyBy(ctx context.Context, k BuildKey) (user string, pem []byte, err error) {
	b, owner, err := a.buildAccess(ctx, k)
	if err != nil {
		return "", nil, err
	}
	return a.Access.ClusterKey(ctx, owner, b.Cluster)
}

// BuildCertificateBy signs a public key for a build's cluster, as ClusterCertificate does, for whoever has the build's token.
func (a *Service) BuildCertificateBy(ctx context.Context, k BuildKey, publicKey string, ttl time.Duration) (cluster.Certificate, error) {
	b, owner, err := a.buildAccess(ctx, k)
	if err != nil {
		return cluster.Certificate{}, err
	}
	return a.Access.ClusterCertificate(ctx, owner, b.Cluster, publicKey, ttl)
}
