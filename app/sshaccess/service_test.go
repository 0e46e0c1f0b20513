package sshaccess_test

import (
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/apptest/harness"
	"muster/app/identity"
	"muster/app/sharing"
)

// signer keeps what it was to sign.
type signer struct {
	harness.Keys
	private string
	orders  []app.CertificateOrder
}

func (s *signer) SignCertificate(private []byte, o app.CertificateOrder) (app.SignedCertificate, error) {
	s.private = string(private)
	s.orders = append(s.orders, o)
	return app.SignedCertificate{Line: "signed", Serial: 1<<63 - 1, Fingerprint: "SHA256:abc"}, nil
}

func TestClusterCertificate(t *testing.T) {
	b := harness.New(t)
	keys := &signer{}
	b.Services.SSHAccess.Keys = keys
	make := func(name string, lease time.Duration, status app.NodeStatus) string {
		t.Helper()
		n := apptest.NewCluster(app.DefaultTenant, name, 2, b.Clock.Now(), apptest.Chain(2))
		if lease != 0 {
			n.Cluster.ExpiresAt = b.Clock.Now().Add(lease)
		}
		for i := range n.Nodes {
			n.Nodes[i].Node.Status, n.Nodes[i].Node.SSHUser = status, "ubuntu"
		}
		if _, err := b.Store.CreateCluster(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		return n.Cluster.ID
	}
	forever, short, planned := make("forever", 0, app.NodeReady), make("short", 90*time.Minute, app.NodeReady), make("planned", 0, app.NodePlanned)
	ada, bob := b.Actor("ada", app.RoleUser), b.Actor("bob", app.RoleUser)
	const hour = time.Hour
	if _, err := b.Services.Cluster.Sharing.ShareCluster(t.Context(), ada, short, sharing.SharingChange{Visibility: app.VisibleTenant}); err != nil {
		t.Fatal(err)
	}

	for name, tc := range map[string]struct {
		cluster   string
		ttl, want time.Duration
	}{
		"usual":              {forever, 0, hour},
		"longest":            {forever, 8 * hour, 8 * hour},
		"shortest":           {forever, time.Minute, time.Minute},
		"within the lease":   {short, hour, hour},
		"beyond the lease":   {short, 8 * hour, 90 * time.Minute},
		"by the lease's end": {short, 90 * time.Minute, 90 * time.Minute},
	} {
		c, err := b.Services.SSHAccess.ClusterCertificate(t.Context(), ada, tc.cluster, " ssh-ed25519 AAAA ada\n", tc.ttl)
		until := b.Clock.Now().Add(tc.want).UTC().Truncate(time.Second)
		if err != nil || !c.ValidUntil.Equal(until) || c.User != "ubuntu" || c.Certificate != "signed" || c.Serial != "9223372036854775807" {
			t.Errorf("%s: %+v, %v; want until %s", name, c, err, until)
			continue
		}
		o := keys.orders[len(keys.orders)-1]
		if o.PublicKey != "ssh-ed25519 AAAA ada" || o.KeyID != "muster:default/ada" || strings.Join(o.Principals, " ") != "ubuntu" ||
			!o.From.Equal(b.Clock.Now().Add(-time.Minute)) || !o.Until.Equal(until) || keys.private != "the cluster's private key" {
			t.Errorf("%s: ordered %+v", name, o)
		}
	}
	// Those whose access ends have no certificate for longer, and no key that would outlast it.
	eve := b.Actor("eve", app.RoleUser)
	user := identity.User{Tenant: app.DefaultTenant, Name: "eve", Role: app.RoleUser, CreatedAt: b.Clock.Now()}
	if err := b.Store.CreateUser(t.Context(), user); err != nil {
		t.Fatal(err)
	}
	invite := func(access app.Access, length string) {
		t.Helper()
		change := sharing.SharingChange{Add: []sharing.Share{{Person: "eve", Access: access, For: length}}}
		if _, err := b.Services.Cluster.Sharing.ShareCluster(t.Context(), ada, forever, change); err != nil {
			t.Fatal(err)
		}
	}
	invite(app.AccessCoOwner, "30m")
	ends := b.Clock.Now().Add(30 * time.Minute).UTC().Truncate(time.Second)
	if c, err := b.Services.SSHAccess.ClusterCertificate(t.Context(), eve, forever, "ssh-ed25519 AAAA", 0); err != nil || !c.ValidUntil.Equal(ends) {
		t.Errorf("until the access ends: %+v, %v; want %s", c, err, ends)
	}
	if _, _, err := b.Services.SSHAccess.ClusterKey(t.Context(), eve, forever); app.AsError(err).Reason != "access_ends" {
		t.Errorf("the key for someone whose access ends: %v", err)
	}
	b.Clock.Move(30 * time.Minute)
	if _, err := b.Services.SSHAccess.ClusterCertificate(t.Context(), eve, forever, "ssh-ed25519 AAAA", 0); app.CodeOf(err) != app.ENotFound {
		t.Errorf("an expired invitation: %v", err)
	}
	b.Clock.Move(-30 * time.Minute)
	invite(app.AccessCoOwner, "")
	c, err := b.Services.SSHAccess.ClusterCertificate(t.Context(), eve, forever, "ssh-ed25519 AAAA", 0)
	if err != nil || !c.ValidUntil.Equal(ends.Add(30*time.Minute)) {
		t.Errorf("for good: %+v, %v", c, err)
	}
	leaves := sharing.SharingChange{Remove: []sharing.Share{{Person: "eve"}}}
	if _, err := b.Services.Cluster.Sharing.ShareCluster(t.Context(), ada, forever, leaves); err != nil {
		t.Fatal(err)
	}
	done := len(keys.orders)

	for name, tc := range map[string]struct {
		actor        app.Actor
		cluster, key string
		ttl          time.Duration
		code         app.Code
		field        string
	}{
		"not the owner": {bob, forever, "ssh-ed25519 AAAA", hour, app.ENotFound, ""},
		"a reader":      {b.Actor("eve", app.RoleUser), short, "ssh-ed25519 AAAA", hour, app.EForbidden, ""},
		"a viewer":      {b.Actor("ada", app.RoleViewer), forever, "ssh-ed25519 AAAA", hour, app.EForbidden, ""},
		"no cluster":    {ada, "nothing", "ssh-ed25519 AAAA", hour, app.ENotFound, ""},
		"too long":      {ada, forever, "ssh-ed25519 AAAA", 8*hour + time.Second, app.EInvalid, "ttl"},
		"too short":     {ada, forever, "ssh-ed25519 AAAA", time.Second, app.EInvalid, "ttl"},
		"negative":      {ada, forever, "ssh-ed25519 AAAA", -hour, app.EInvalid, "ttl"},
		"no key":        {ada, forever, " \n", hour, app.EInvalid, "public_key"},
		"a large key":   {ada, forever, strings.Repeat("x", 16<<10+1), hour, app.EInvalid, "public_key"},
		"no machine":    {ada, planned, "ssh-ed25519 AAAA", hour, app.EConflict, ""},
	} {
		_, err := b.Services.SSHAccess.ClusterCertificate(t.Context(), tc.actor, tc.cluster, tc.key, tc.ttl)
		if e := app.AsError(err); err == nil || e.Code != tc.code || e.Field != tc.field {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.Clock.Move(90 * time.Minute)
	if _, err := b.Services.SSHAccess.ClusterCertificate(t.Context(), ada, short, "ssh-ed25519 AAAA", hour); app.CodeOf(err) != app.EConflict {
		t.Errorf("after the lease: %v", err)
	}
	if len(keys.orders) != done {
		t.Errorf("%d certificates were signed of what is refused", len(keys.orders)-done)
	}
	entries, err := b.Store.Audit(t.Context(), app.AuditFilter{Act: "cluster.certificate", Limit: 100})
	if err != nil || len(entries) != done {
		t.Fatalf("%d entries of %d, %v", len(entries), done, err)
	}
	for _, d := range entries {
		if d.Who != "ada" && d.Who != "eve" || !strings.HasPrefix(d.Detail, "SHA256:abc, serial 9223372036854775807, valid until 20") {
			t.Errorf("%+v", d)
		}
	}
}
