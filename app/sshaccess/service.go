package sshaccess

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
)

// Store is what Service needs of the database.
type Store interface {
	ClusterSecrets(ctx context.Context, tenant string, cluster string) (cluster.Secrets, error)
	Nodes(ctx context.Context, tenant string, cluster string) ([]app.Node, error)
	AddAuditEntry(ctx context.Context, d app.AuditEntry) error
}

// Config is what Service is created from.
type Config struct {
	Store    Store
	Now      func() time.Time
	Keys     app.Keys
	Clusters *cluster.Finder
}

// Service lets people sign in to clusters' nodes.
type Service struct{ Config }

// New returns the service.
func New(c Config) *Service { return &Service{Config: c} }

// How long a certificate for a cluster's machines may hold.
const (
	defaultCertificateTime = time.Hour
	maxCertificateTime     = 8 * time.Hour
	minCertificateTime     = time.Minute
	// certificateSkew is by how much a machine's clock may be behind ours.
	certificateSkew = time.Minute
	// maxPublicKey is how long the text of a public key may be, in bytes.
	maxPublicKey = 16 << 10
)

// ClusterCertificate lets the holder of a key into the machines of a cluster for a while.
type ClusterCertificate struct {
	Certificate string    `json:"certificate"`
	User        string    `json:"user"`
	ValidUntil  time.Time `json:"valid_until"`
	Serial      string    `json:"serial"`
}

// ClusterCertificate signs a public key, so that its holder gets into the cluster's machines for ttl from now, but not beyond
// the end of the lease or of the actor's access; 0 is defaultCertificateTime. It is for those who may change the cluster, and is in the audit log.
// EInvalid names the field ttl or public_key; EConflict where there is no machine, or the lease is over.
func (s *Service) ClusterCertificate(ctx context.Context, actor app.Actor, id, publicKey string, ttl time.Duration) (ClusterCertificate, error) {
	c, err := s.Clusters.AuthorizedCluster(ctx, actor, "ClusterCertificate", id)
	if err != nil {
		return ClusterCertificate{}, err
	}
	if err := actor.MayChange("ClusterCertificate", c); err != nil {
		return ClusterCertificate{}, err
	}
	now := s.Now()
	until, err := certificateEnd(c, now, ttl)
	if err != nil {
		return ClusterCertificate{}, err
	}
	if publicKey = strings.TrimSpace(publicKey); publicKey == "" || len(publicKey) > maxPublicKey {
		return ClusterCertificate{}, &app.Error{Code: app.EInvalid, Field: "public_key",
			Message: fmt.Sprintf("A public key must have 1 to %d bytes, not %d.", maxPublicKey, len(publicKey)),
			Hint:    "Pass the contents of a file such as ~/.ssh/id_ed25519.pub."}
	}
	secrets, err := s.Store.ClusterSecrets(ctx, actor.Tenant, c.ID)
	if err != nil {
		return ClusterCertificate{}, err
	}
	if len(secrets.PrivateKey) == 0 {
		return ClusterCertificate{}, app.Errorf(app.EConflict, "Cluster %q was deleted, along with its SSH key.", c.Name)
	}
	nodes, err := s.unlockedNodes(ctx, actor, c)
	if err != nil {
		return ClusterCertificate{}, err
	}
	users := loginUsers(nodes)
	if len(users) == 0 {
		return ClusterCertificate{}, &app.Error{Code: app.EConflict, Reason: "no_machine", Message: fmt.Sprintf("Cluster %q has no machine to sign in to yet.", c.Name),
			Hint: "Try again when its machines are running."}
	}
	signed, err := s.Keys.SignCertificate(secrets.PrivateKey, app.CertificateOrder{PublicKey: publicKey,
		KeyID: "muster:" + actor.Tenant + "/" + actor.Name(), Principals: users, From: now.Add(-certificateSkew), Until: until})
	if err != nil {
		return ClusterCertificate{}, err
	}
	detail := fmt.Sprintf("%s, serial %d, valid until %s", signed.Fingerprint, signed.Serial, until.Format(time.RFC3339))
	if err := s.Store.AddAuditEntry(ctx, actor.AuditEntry(now, "cluster.certificate", c.ID, detail)); err != nil {
		return ClusterCertificate{}, err
	}
	return ClusterCertificate{Certificate: signed.Line, User: users[0], ValidUntil: until, Serial: strconv.FormatUint(signed.Serial, 10)}, nil
}

// certificateEnd returns when a certificate that is made now ends, in whole seconds as certificates have it.
func certificateEnd(c app.Cluster, now time.Time, ttl time.Duration) (time.Time, error) {
	if ttl == 0 {
		ttl = defaultCertificateTime
	}
	if ttl < minCertificateTime || ttl > maxCertificateTime {
		return time.Time{}, &app.Error{Code: app.EInvalid, Field: "ttl",
			Message: fmt.Sprintf("A certificate can be valid for %s to %s, not %s.", humanize.Duration(minCertificateTime), humanize.Duration(maxCertificateTime), humanize.Duration(ttl)),
			Hint:    "Request a new certificate when this one expires."}
	}
	until := now.Add(ttl)
	if !c.ExpiresAt.IsZero() && c.ExpiresAt.Before(until) {
		until = c.ExpiresAt
	}
	if !c.AccessUntil.IsZero() && c.AccessUntil.Before(until) {
		until = c.AccessUntil
	}
	if until = until.UTC().Truncate(time.Second); !until.After(now) && !c.AccessUntil.IsZero() && !c.AccessUntil.After(until.Add(time.Second)) {
		return time.Time{}, &app.Error{Code: app.EForbidden, Reason: "access_ends", Message: fmt.Sprintf("Your access to cluster %q is about to end.", c.Name),
			Hint: "Ask " + c.Owner + " to share the cluster for longer."}
	}
	if !until.After(now) {
		return time.Time{}, &app.Error{Code: app.EConflict, Reason: "lease_over", Message: fmt.Sprintf("The lease of cluster %q has expired.", c.Name)}
	}
	return until, nil
}

// loginUsers are the users to sign in as on the existing machines; that of the first machine comes first.
func loginUsers(nodes []app.Node) []string {
	var users []string
	for _, n := range nodes {
		if n.Status != app.NodeCreated && n.Status != app.NodeReady {
			continue
		}
		user := n.SSHUser
		if user == "" {
			user = "root"
		}
		if !slices.Contains(users, user) {
			users = append(users, user)
		}
	}
	return users
}

// ClusterKey returns the user and private key that open a cluster's machines, to those who may change the cluster.
func (s *Service) ClusterKey(ctx context.Context, actor app.Actor, id string) (user string, pem []byte, err error) {
	c, err := s.Clusters.AuthorizedCluster(ctx, actor, "ClusterKey", id)
	if err != nil {
		return "", nil, err
	}
	if err := actor.MayChange("ClusterKey", c); err != nil {
		return "", nil, err
	}
	secrets, err := s.Store.ClusterSecrets(ctx, actor.Tenant, c.ID)
	if err != nil {
		return "", nil, err
	}
	if len(secrets.PrivateKey) == 0 {
		return "", nil, app.Errorf(app.EConflict, "Cluster %q was deleted, along with its SSH key.", c.Name)
	}
	nodes, err := s.unlockedNodes(ctx, actor, c)
	if err != nil {
		return "", nil, err
	}
	if err := s.Store.AddAuditEntry(ctx, actor.AuditEntry(s.Now(), "cluster.key", c.ID, "")); err != nil {
		return "", nil, err
	}
	if len(nodes) == 0 {
		return "root", secrets.PrivateKey, nil
	}
	return nodes[0].SSHUser, secrets.PrivateKey, nil
}

// unlockedNodes are the nodes of a cluster, of which none is locked for the actor: keys and certificates open all of them.
func (s *Service) unlockedNodes(ctx context.Context, actor app.Actor, c app.Cluster) ([]app.Node, error) {
	nodes, err := s.Store.Nodes(ctx, actor.Tenant, c.ID)
	if err != nil {
		return nil, err
	}
	same := nodes
	if c.KeptFrom != "" { // the key is that of the cluster in which the machine was
		was, err := s.Store.Nodes(ctx, actor.Tenant, c.KeptFrom)
		if err != nil {
			return nil, err
		}
		same = slices.Concat(nodes, was)
	}
	for _, n := range same {
		if err := n.CheckLock(actor, c); err != nil {
			e := app.AsError(err)
			e.Message += " Keys and certificates open all nodes of a cluster."
			e.Hint = "Use terminals of the other nodes, or ask an admin to unlock it."
			return nil, e
		}
	}
	return nodes, nil
}
