package sshaccess

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/tunnel"
)

// NodesConfig is what Nodes is created from.
type NodesConfig struct {
	Store    Store
	Now      func() time.Time
	Keys     app.Keys
	Clusters *cluster.Finder
	Catalogs *catalog.Service
	Tunnels  *tunnel.Service
	// OwnAccount reports whether a cluster's machines are in an account of its users.
	OwnAccount func(ctx context.Context, tenant, cluster string) (bool, error)
	SignIn     family.Connector
}

// Nodes signs in to nodes for people, from this server.
type Nodes struct{ NodesConfig }

// NewNodes returns it.
func NewNodes(c NodesConfig) *Nodes { return &Nodes{c} }

// sshPort is that of nodes that have no other.
const sshPort = 22

// signInTime is how long a certificate of this server's own is valid: an open connection outlives it.
const signInTime = 5 * time.Minute

// Node is a node that an actor may sign in to.
type Node struct {
	Cluster app.Cluster
	Node    app.Node
}

// NoMachine is the reason of an EConflict for a node that has no machine that can be signed in to, but may have one again.
const NoMachine = "no_machine"

// Find returns a node of a cluster, to those who may use the cluster for a use case. ENotFound where there is none, EConflict where it was deleted, or,
// with the reason NoMachine, where it has no machine that can be signed in to.
func (s *Nodes) Find(ctx context.Context, actor app.Actor, useCase, id, node string) (Node, error) {
	all, c, err := s.All(ctx, actor, useCase, id)
	if err != nil {
		return Node{}, err
	}
	for _, n := range all {
		if n.Name == node {
			return Node{c, n}, cmp.Or(n.CheckLock(actor, c), reachable(c, n))
		}
	}
	return Node{}, app.Errorf(app.ENotFound, "Cluster %q has no node %q.", c.Name, node)
}

// All returns the nodes of a cluster, to those who may use it for a use case.
func (s *Nodes) All(ctx context.Context, actor app.Actor, useCase, id string) ([]app.Node, app.Cluster, error) {
	c, err := s.Clusters.AuthorizedCluster(ctx, actor, useCase, id)
	if err != nil {
		return nil, c, err
	}
	if err := actor.MayChange(useCase, c); err != nil {
		return nil, c, err
	}
	nodes, err := s.Store.Nodes(ctx, actor.Tenant, c.ID)
	return nodes, c, err
}

// reachable refuses nodes without a machine that can be signed in to.
func reachable(c app.Cluster, n app.Node) error {
	switch {
	case n.Status == app.NodeDeleted:
		return &app.Error{Code: app.EConflict, Reason: "node_deleted", Message: fmt.Sprintf("Node %s of cluster %q was deleted.", n.Name, c.Name)}
	case n.Lost():
		return &app.Error{Code: app.EConflict, Reason: NoMachine, Message: fmt.Sprintf("The machine of node %s is lost.", n.Name),
			Hint: "Repair the cluster: muster cluster repair " + c.Name}
	case n.Status != app.NodeReady && n.Status != app.NodeCreated || n.Address(app.AddressAccess) == "" || n.HostKey == "":
		return &app.Error{Code: app.EConflict, Reason: NoMachine, Message: fmt.Sprintf("Node %s of cluster %q has no machine to sign in to yet.", n.Name, c.Name),
			Hint: "Try again when its machine is running."}
	}
	return nil
}

// Connect signs in to a node, with a key of its own and a certificate for minutes.
func (s *Nodes) Connect(ctx context.Context, actor app.Actor, p Node) (family.NodeConnection, error) {
	secrets, err := s.Store.ClusterSecrets(ctx, actor.Tenant, p.Cluster.ID)
	if err != nil {
		return nil, err
	}
	if len(secrets.PrivateKey) == 0 {
		return nil, app.Errorf(app.EConflict, "Cluster %q was deleted, along with its SSH key.", p.Cluster.Name)
	}
	private, public, err := s.Keys.NewKey("")
	if err != nil {
		return nil, err
	}
	user := p.Node.SSHUser
	if user == "" {
		user = "root"
	}
	now := s.Now()
	signed, err := s.Keys.SignCertificate(secrets.PrivateKey, app.CertificateOrder{PublicKey: public, KeyID: "muster:" + actor.Tenant + "/" + actor.Name(),
		Principals: []string{user}, From: now.Add(-certificateSkew), Until: now.Add(signInTime)})
	if err != nil {
		return nil, err
	}
	request, err := s.request(ctx, p)
	if err != nil {
		return nil, err
	}
	return s.SignIn(ctx, family.NodeTarget{Address: p.Node.Address(app.AddressAccess), Port: p.Node.SSHPort, User: user, HostKey: p.Node.HostKey,
		PrivateKey: private, Certificate: signed.Line,
		Dial: func(ctx context.Context, _, address string) (net.Conn, error) {
			request.Address = address
			return s.Tunnels.Dial(ctx, request)
		}})
}

// request says who reaches a node.
func (s *Nodes) request(ctx context.Context, p Node) (tunnel.Request, error) {
	r := tunnel.Request{Tenant: p.Cluster.Tenant, Address: net.JoinHostPort(p.Node.Address(app.AddressAccess), strconv.Itoa(cmp.Or(p.Node.SSHPort, sshPort)))}
	c, err := s.Catalogs.CatalogOf(ctx, p.Cluster.Tenant)
	if err != nil {
		return r, err
	}
	if spec := c.Providers[p.Cluster.Provider]; spec != nil {
		r.Needs = spec.Provisioner
	}
	own, err := s.OwnAccount(ctx, p.Cluster.Tenant, p.Cluster.ID)
	if err != nil || own {
		r.Guarded = own
		return r, err
	}
	r.Guarded, err = s.Catalogs.Guards(ctx, p.Cluster.Tenant, p.Cluster.Provider)
	return r, err
}

// SSHStream connects to the SSH port of a node, for those who may have a certificate, who sign in themselves: what goes through is theirs, end to
// end. Each is in the audit log.
func (s *Nodes) SSHStream(ctx context.Context, actor app.Actor, cluster, node string) (net.Conn, error) {
	p, err := s.Find(ctx, actor, "SSHStream", cluster, node)
	if err != nil {
		return nil, err
	}
	r, err := s.request(ctx, p)
	if err != nil {
		return nil, err
	}
	conn, err := s.Tunnels.Dial(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := s.Store.AddAuditEntry(ctx, actor.AuditEntry(s.Now(), "cluster.connect", p.Cluster.ID, p.Node.Name)); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// CheckSSHStream returns why an actor may no longer have an SSHStream.
func (s *Nodes) CheckSSHStream(ctx context.Context, actor app.Actor, cluster, node string) error {
	_, err := s.Find(ctx, actor, "CheckSSHStream", cluster, node)
	return err
}

// StillMay returns why an actor may no longer be connected to a node; nil where it may, or that can't be said now. The reason is NoMachine where the
// node has no machine now.
func (s *Nodes) StillMay(ctx context.Context, actor app.Actor, useCase, cluster, node string) *app.Error {
	_, err := s.Find(ctx, actor, useCase, cluster, node)
	if err == nil {
		return nil
	}
	e := app.AsError(err)
	if e.Reason == NoMachine {
		return e
	}
	switch e.Code {
	case app.ENotFound, app.EForbidden, app.EConflict, app.EUnauthorized:
		return &app.Error{Code: app.EForbidden, Reason: "access", Message: "You can no longer use this node: " + e.Message}
	}
	return nil
}
