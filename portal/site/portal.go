package site

import (
	"context"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/execution"
	appoperation "muster/app/operation"
)

// Muster is what the portal asks for. Every method may be called from several goroutines; errors are *app.Error where
// they mean something to the person who asked.
type Muster interface {
	Identity
	Clusters
	Controls
	Ledger
}

// Identity tells who somebody is.
type Identity interface {
	// SignIn checks a password and begins a sign-in. EUnauthorized says that user and password do not fit together.
	SignIn(ctx context.Context, tenant, user, password string, v app.Visit) (app.Session, error)
	// ActorOfSession gives who a sign-in stands for now; EUnauthorized where it does not count any more, saying why.
	ActorOfSession(ctx context.Context, id int64, v app.Visit) (app.Actor, error)
	// SignOut ends a sign-in; one that is over is success.
	SignOut(ctx context.Context, id int64) error
	// ActorOfToken gives whom a bearer token stands for; EUnauthorized for a token that nobody has. From is where it came from.
	ActorOfToken(ctx context.Context, token, from string) (app.Actor, error)
}

// Clusters are the use cases about clusters as a whole.
type Clusters interface {
	Catalog(ctx context.Context, a app.Actor) (*app.Catalog, error)
	Preview(ctx context.Context, a app.Actor, r app.ClusterRequest) (app.Preview, error)
	CreateCluster(ctx context.Context, a app.Actor, r app.ClusterRequest) (app.ClusterView, error)
	Clusters(ctx context.Context, a app.Actor, f app.ClusterFilter) ([]app.ClusterSummary, error)
	// ClusterPage gives those that a filter lets through, a page of them at a time; ClusterCounts how many there are by status.
	ClusterPage(ctx context.Context, a app.Actor, f app.ClusterFilter) (appcluster.ClusterPage, error)
	ClusterCounts(ctx context.Context, a app.Actor, f app.ClusterFilter) (app.ClusterCounts, error)
	Cluster(ctx context.Context, a app.Actor, id string) (app.ClusterView, error)
	DeleteCluster(ctx context.Context, a app.Actor, id string) (app.ClusterView, error)
	// ClusterKey gives the user and the private key (OpenSSH PEM) that open a shell on the cluster's nodes.
	ClusterKey(ctx context.Context, a app.Actor, cluster string) (user string, pem []byte, err error)
	// ClusterCertificate lets the holder of a public key into the cluster's nodes for a while; ttl 0 is the usual time.
	ClusterCertificate(ctx context.Context, a app.Actor, cluster, publicKey string, ttl time.Duration) (appcluster.Certificate, error)
}

// Controls are what a person can do about an operation of a cluster; operation 0 is the one under way, or else the latest.
// What its state does not allow is EConflict, with a hint that says what it does.
type Controls interface {
	// CancelOperation stops it; with rollBack it is undone by itself once it has stopped.
	CancelOperation(ctx context.Context, a app.Actor, cluster string, operation int64, rollBack bool) (app.ClusterView, error)
	PauseOperation(ctx context.Context, a app.Actor, cluster string, operation int64) (app.ClusterView, error)
	ResumeOperation(ctx context.Context, a app.Actor, cluster string, operation int64) (app.ClusterView, error)
	// RetryNode tries again what failed on one node.
	RetryNode(ctx context.Context, a app.Actor, cluster, node string) (app.ClusterView, error)
	PreviewRollBack(ctx context.Context, a app.Actor, cluster string, operation int64) (appoperation.RollBackPreview, error)
	// RollBack undoes what it has done. A planHash that is not that of the plan made now is EConflict, reason plan_changed.
	RollBack(ctx context.Context, a app.Actor, cluster string, operation int64, planHash string) (app.ClusterView, error)
	// Waiting says why the steps of the operation under way wait.
	Waiting(ctx context.Context, a app.Actor, cluster string, f execution.WaitingFilter) (execution.Waiting, error)
	// Queue tells admins what waits in their tenant.
	Queue(ctx context.Context, a app.Actor) (execution.Queue, error)
}

// Ledger is what happens inside a cluster.
type Ledger interface {
	// Steps gives the steps of an operation in the order of the plan; operation 0 is the latest.
	Steps(ctx context.Context, a app.Actor, cluster string, operation int64) ([]app.Step, error)
	// Events gives at most limit entries of the feed after a number, oldest first.
	Events(ctx context.Context, a app.Actor, cluster string, after int64, limit int) ([]app.Event, error)
	Logs(ctx context.Context, a app.Actor, cluster string, f app.LogFilter) ([]app.LogLine, error)
	// Watch wakes the reader of changed whenever the topic wakes, such as when events or log lines of a cluster were written; several may come as one.
	// Stop ends it and may be called twice.
	Watch(a app.Actor, topic app.Topic) (changed <-chan struct{}, stop func())
}

// Explainer is a power that a Muster may have: to say why a request has no layout, and what would make one possible. A
// portal without it shows only the refusal.
type Explainer interface {
	// Explain gives an empty explanation for a request that has a layout.
	Explain(ctx context.Context, a app.Actor, r app.ClusterRequest) (app.Explanation, error)
}
