package port

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"muster/app"
	"muster/app/identity"
)

// A ticket leads from the portal to a port's own name, and a pass is kept there as a cookie. Both are signed, hold for one label and one sign-in, and
// end: the ticket after one use or seconds, the pass with the sign-in.

// claims are what is signed.
type claims struct {
	Kind    string `json:"k"`
	Label   string `json:"l"`
	Session int64  `json:"s"`
	Tenant  string `json:"t"` // in which the person acts
	Until   int64  `json:"u"`
	Nonce   string `json:"n,omitempty"`
}

const (
	ticketKind = "ticket"
	passKind   = "pass"
	ticketTime = 30 * time.Second
	// PassTime is how long a pass is valid, if the sign-in is.
	PassTime = 12 * time.Hour
	// lookEvery is how long it's known that a sign-in and its access are still valid.
	lookEvery = 5 * time.Second
)

var errPass = &app.Error{Code: app.EUnauthorized, Reason: "port_pass", Message: "Sign in to Muster to open this page."}

// key is the installation's for these, which no other signature is made with.
func (s *Service) key(ctx context.Context) ([]byte, error) {
	k, err := s.Key(ctx)
	if err != nil {
		return nil, err
	}
	m := hmac.New(sha256.New, k)
	m.Write([]byte("ports of nodes"))
	return m.Sum(nil), nil
}

func (s *Service) sign(ctx context.Context, c claims) (string, error) {
	key, err := s.key(ctx)
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	m := hmac.New(sha256.New, key)
	m.Write(b)
	return base64.RawURLEncoding.EncodeToString(b) + "." + base64.RawURLEncoding.EncodeToString(m.Sum(nil)), nil
}

// maxSigned bounds the text of a ticket or pass, in bytes.
const maxSigned = 1024

func (s *Service) verify(ctx context.Context, kind, text, label string) (claims, error) {
	var c claims
	first, second, _ := strings.Cut(text, ".")
	b, err := base64.RawURLEncoding.DecodeString(first)
	sum, bad := base64.RawURLEncoding.DecodeString(second)
	if err != nil || bad != nil || len(text) > maxSigned {
		return c, errPass
	}
	key, err := s.key(ctx)
	if err != nil {
		return c, err
	}
	m := hmac.New(sha256.New, key)
	m.Write(b)
	if !hmac.Equal(m.Sum(nil), sum) || json.Unmarshal(b, &c) != nil || c.Kind != kind || c.Label != label || s.Now().Unix() >= c.Until {
		return c, errPass
	}
	return c, nil
}

// OpenPort returns a ticket, which lets a sign-in enter a port's own name, if the actor may use the node, and the port with its
// cluster's ID. It's in the audit log.
func (s *Service) OpenPort(ctx context.Context, actor app.Actor, signIn int64, a Address) (ticket string, at Address, err error) {
	if signIn == 0 {
		return "", a, errPass
	}
	n, err := s.Nodes.Find(ctx, actor, "OpenPort", a.Cluster, a.Node)
	if err != nil {
		return "", a, err
	}
	a.Cluster = n.Cluster.ID
	if err := s.Store.AddAuditEntry(ctx, actor.AuditEntry(s.Now(), "port.open", n.Cluster.ID, a.Label())); err != nil {
		return "", a, err
	}
	ticket, err = s.sign(ctx, claims{Kind: ticketKind, Label: a.Label(), Session: signIn, Tenant: actor.Tenant, Until: s.Now().Add(ticketTime).Unix(),
		Nonce: rand.Text()})
	return ticket, a, err
}

// Redeem returns the pass for a ticket, once.
func (s *Service) Redeem(ctx context.Context, ticket, label string) (string, error) {
	c, err := s.verify(ctx, ticketKind, ticket, label)
	if err != nil {
		return "", err
	}
	first, err := s.Store.UsePortTicket(ctx, c.Nonce, time.Unix(c.Until, 0), s.Now())
	if err != nil {
		return "", err
	}
	if !first {
		return "", errPass
	}
	return s.sign(ctx, claims{Kind: passKind, Label: label, Session: c.Session, Tenant: c.Tenant, Until: s.Now().Add(PassTime).Unix()})
}

// Enter returns who comes with a pass. EUnauthorized where it isn't valid, or its sign-in has ended.
func (s *Service) Enter(ctx context.Context, pass, label string, v identity.Visit) (app.Actor, error) {
	c, err := s.verify(ctx, passKind, pass, label)
	if err != nil {
		return app.Actor{}, err
	}
	now := s.Now()
	s.mu.Lock()
	if e, ok := s.entered[signedIn{c.Session, c.Tenant}]; ok && now.Sub(e.at) < lookEvery && !now.Before(e.at) {
		s.mu.Unlock()
		return e.actor, nil
	}
	s.mu.Unlock()
	actor, err := s.actorOf(ctx, c.Session, c.Tenant, v)
	if err != nil {
		return app.Actor{}, err
	}
	if actor.MustChange || actor.MustAddFactor {
		return app.Actor{}, errPass
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.entered) > mostEntered {
		clear(s.entered)
	}
	s.entered[signedIn{c.Session, c.Tenant}] = entered{actor, now}
	return actor, nil
}

// actorOf returns who is signed in, as acting in a tenant, which for superadmins may be another than their own.
func (s *Service) actorOf(ctx context.Context, session int64, tenant string, v identity.Visit) (app.Actor, error) {
	a, err := s.Sessions.ActorOfSession(ctx, session, v)
	if err != nil || tenant == a.Tenant {
		return a, err
	}
	return s.Tenants.ActIn(ctx, a, tenant)
}
