package openstack

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
	fake "muster/providers/internal/openstacktest"
	"muster/providers/providertest"
)

func TestServerRequest(t *testing.T) {
	s, h := harness(t, nil)
	p := s.open(t, map[string]any{"security_groups": "default", "availability_zone": "az1", "networks": "private, second"})
	t.Cleanup(func() { s.clear(t, p) })
	spec, keys := h.Spec(t, "whole")
	spec.Image.SSHUser = "debian"
	spec.Firewall = h.Firewall
	spec.Flavor.Flavor = "v1.small" // has no disk of its own
	spec.Flavor.Extra = map[string]string{"boot_volume_gb": "30", "boot_volume_type": "ssd", "data_disk_gb": "100", "user_data": "#!/bin/sh\necho mine"}
	m, err := p.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	made := s.Servers()[0]
	if made.Name != spec.Hostname || !made.Drive || made.Zone != "az1" || m.Zone != "az1" || m.SSHUser != "debian" {
		t.Errorf("%+v, %+v", made, m)
	}
	if !slices.Equal(made.Networks, []string{"private", "second"}) || !slices.Equal(made.Groups, []string{"muster/suite/c1", "default"}) {
		t.Errorf("networks %v, groups %v", made.Networks, made.Groups)
	}
	if !slices.Equal(made.Volumes, []string{"30 GB ssd from debian-12", "100 GB from nothing"}) {
		t.Errorf("volumes %v", made.Volumes)
	}
	if m.HostKey != providertest.AuthorizedKey(keys.Host.PublicKey()) || !strings.Contains(made.UserData, m.HostKey) || !strings.Contains(made.UserData, spec.AuthorizedKey) ||
		!strings.Contains(made.UserData, "muster-data-disks") || !strings.Contains(made.UserData, "\necho mine\n") {
		t.Errorf("user data %s", made.UserData)
	}
	if !strings.HasPrefix(m.Addresses[app.AddressAccess], "203.0.113.") || !strings.HasPrefix(m.Addresses[app.AddressBind], "10.0.0.") {
		t.Errorf("addresses %v", m.Addresses)
	}
	if got := providertest.Eventually(t, p, m.ID); got.Addresses[app.AddressAccess] != m.Addresses[app.AddressAccess] || got.Addresses[app.AddressBind] != m.Addresses[app.AddressBind] {
		t.Errorf("later %v, at first %v", got.Addresses, m.Addresses)
	}
}

// A server that is to have a floating IP is not reached by anything else, and one that lost its own gets it again.
func TestAccessIsTheFloatingIP(t *testing.T) {
	s, h := harness(t, nil)
	p := h.Open(t)
	spec, _ := h.Spec(t, "floats")
	s.With(func(c *fake.Cloud) { c.Forbidden = "GET /ports" })
	if _, err := p.Create(t.Context(), spec); app.CodeOf(err) != app.ECredentials {
		t.Fatal(err)
	}
	if left := s.Left(); len(left) > 0 {
		t.Fatalf("what cannot be made whole is left: %v", left)
	}
	s.With(func(c *fake.Cloud) { c.Forbidden = "" })
	s.faults.Arm(providertest.Down, 1, func(r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, "/floatingips") && r.Method == http.MethodPost
	})
	if _, err := p.Create(t.Context(), spec); app.CodeOf(err) != app.ETransient {
		t.Fatal(err)
	}
	half, err := p.List(t.Context(), nil)
	if err != nil || len(half) != 1 || half[0].Addresses[app.AddressAccess] != "" || half[0].Addresses[app.AddressBind] == "" {
		t.Fatalf("%+v, %v", half, err)
	}
	whole, err := p.Create(t.Context(), spec)
	if err != nil || whole.ID != half[0].ID || !strings.HasPrefix(whole.Addresses[app.AddressAccess], "203.0.113.") {
		t.Errorf("%+v, %v", whole, err)
	}
}

// A floating IP whose server went by other means is notified of, and can be removed.
func TestIdleFloatingIPsAreShared(t *testing.T) {
	s, h := harness(t, nil)
	p := s.open(t, nil)
	spec, _ := h.Spec(t, "lost")
	m, err := p.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	tags := map[string]string{family.TagInstallation: providertest.Installation, family.TagCluster: "c1"}
	if things, err := p.Shared(t.Context(), tags); err != nil || len(things) != 0 {
		t.Fatalf("%+v, %v", things, err)
	}
	s.Lose(m.ID)
	things, err := p.Shared(t.Context(), tags)
	if err != nil || len(things) != 1 || things[0].Kind != kindFloating || things[0].Tags[family.TagIntent] != "lost" || things[0].CreatedAt.IsZero() {
		t.Fatalf("%+v, %v", things, err)
	}
	if err := p.DeleteShared(t.Context(), things[0].ID); err != nil {
		t.Fatal(err)
	}
	if left := s.Left(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// Where the server is gone already, Delete still releases its floating IP.
func TestDeleteOfALostServer(t *testing.T) {
	s, h := harness(t, nil)
	p := s.open(t, nil)
	spec, _ := h.Spec(t, "lost")
	m, err := p.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	s.Lose(m.ID)
	if err := p.Delete(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	if left := s.Left(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// A token that is refused, whichever call that happens to, is renewed once, and nothing is made twice.
func TestRejectedTokenIsRenewed(t *testing.T) {
	s, h := harness(t, nil)
	p := s.open(t, nil)
	for n := range 12 {
		spec, _ := h.Spec(t, "renewed")
		spec.Firewall = h.Firewall
		if _, err := p.List(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		calls := 0
		s.With(func(c *fake.Cloud) { c.Revokes = func() bool { calls++; return calls == n+1 } })
		m, err := p.Create(t.Context(), spec)
		s.With(func(c *fake.Cloud) { c.Revokes = nil })
		if err != nil {
			t.Fatalf("refused at call %d: %v", n, err)
		}
		if made := s.Servers(); len(made) != 1 {
			t.Errorf("refused at call %d: %d servers", n, len(made))
		}
		if err := p.Delete(t.Context(), m.ID); err != nil {
			t.Fatal(err)
		}
		s.clear(t, p)
	}
}

// A password that is changed while the account is open is notified of as such.
func TestInvalidCredentialsAreNotRetriedForever(t *testing.T) {
	s, _ := harness(t, nil)
	p := s.open(t, nil)
	if _, err := p.List(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	s.With(func(c *fake.Cloud) { c.TokenLife = -1; c.Revoked = true })
	before := s.faults.Calls()
	_, err := p.List(t.Context(), nil)
	if app.CodeOf(err) != app.ECredentials {
		t.Error(err)
	}
	if n := s.faults.Calls() - before; n > 4 {
		t.Errorf("%d calls", n)
	}
}

// Wake waits for a server that is just being stopped.
func TestWakeWhileItStops(t *testing.T) {
	s, h := harness(t, nil)
	p := h.Open(t).(*Provider)
	spec, _ := h.Spec(t, "restless")
	m, err := p.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	providertest.Eventually(t, p, m.ID)
	for range 3 {
		if err := p.Sleep(t.Context(), m.ID); err != nil {
			t.Fatal(err)
		}
		if err := p.Wake(t.Context(), m.ID); err != nil {
			t.Fatal(err)
		}
		providertest.Eventually(t, p, m.ID)
	}
	if made := s.Servers(); made[0].Status != "ACTIVE" {
		t.Errorf("%+v", made)
	}
}

// A server that ran before and failed is not thrown away by asking for it again.
func TestFailedServerThatRanIsKept(t *testing.T) {
	s, h := harness(t, nil)
	p := h.Open(t)
	spec, _ := h.Spec(t, "past")
	m, err := p.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	providertest.Eventually(t, p, m.ID)
	s.Break(m.ID, "libvirtError: domain not found")
	if _, err := p.Create(t.Context(), spec); app.CodeOf(err) != app.ETransient || !strings.Contains(err.Error(), "domain not found") {
		t.Error(err)
	}
	got, err := p.Describe(t.Context(), m.ID)
	if err != nil || got.State != family.MachineStopped || !strings.Contains(got.Note, "ERROR") {
		t.Errorf("%+v, %v", got, err)
	}
}

// Several that stop or start the same server at once all have what they want.
func TestConcurrentPowerCalls(t *testing.T) {
	s, h := harness(t, nil)
	p := s.open(t, nil)
	t.Cleanup(func() { s.clear(t, p) })
	spec, _ := h.Spec(t, "pulled")
	m, err := p.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	providertest.Eventually(t, p, m.ID)
	for range 3 {
		for what, do := range map[string]func() error{"sleep": func() error { return p.Sleep(t.Context(), m.ID) }, "wake": func() error { return p.Wake(t.Context(), m.ID) }} {
			failed := make(chan error, 6)
			for range cap(failed) {
				go func() { failed <- do() }()
			}
			for range cap(failed) {
				if err := <-failed; err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
		}
		if err := p.Wake(t.Context(), m.ID); err != nil {
			t.Fatal(err)
		}
		providertest.Eventually(t, p, m.ID)
	}
}

// Servers on several networks are listed with their addresses in order, also while Neutron does not answer, and without asking it for each.
func TestListWithoutNeutron(t *testing.T) {
	s, h := harness(t, nil)
	var ids string
	s.With(func(c *fake.Cloud) { ids = c.Networks[1].ID + " " + c.Networks[0].ID })
	p := s.open(t, map[string]any{"networks": ids, "floating_network": "none"})
	t.Cleanup(func() { s.clear(t, p) })
	for _, intent := range []string{"a", "b", "c"} {
		spec, _ := h.Spec(t, intent)
		if _, err := p.Create(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
	}
	for _, down := range []bool{false, true} {
		p.networks.Forget()
		if down {
			s.faults.Arm(providertest.Down, 1000, func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/network") })
		}
		before := s.faults.Calls()
		all, err := p.List(t.Context(), nil)
		calls := s.faults.Calls() - before
		s.faults.Disarm()
		if err != nil || len(all) != 3 || calls > 4 {
			t.Fatalf("%d machines in %d calls, %v", len(all), calls, err)
		}
		for _, m := range all {
			if want := map[bool]string{false: "10.1.0.", true: "10.0.0."}[down]; !strings.HasPrefix(m.Addresses[app.AddressBind], want) {
				t.Errorf("Neutron down %v: %v", down, m.Addresses)
			}
		}
	}
}

// While one of the cloud's services is broken a deletion fails in words, and continues where it was once that works again. Nothing is left.
func TestDeleteSurvivesOutages(t *testing.T) {
	for name, which := range map[string]string{"Nova": "/compute/", "Neutron": "/network/", "Keystone's catalog and all": "/"} {
		t.Run(name, func(t *testing.T) {
			s, h := harness(t, nil)
			s.faults.Fail = func(w http.ResponseWriter, _ *http.Request, _ int) {
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = w.Write([]byte(`{"computeFault": {"code": 500, "message": "Unexpected API Error. Please report this at http://bugs.launchpad.net/nova/ and attach the Nova API log if possible.\n<class 'neutronclient.common.exceptions.ConnectionFailed'>"}}`))
			}
			p := s.open(t, nil)
			spec, _ := h.Spec(t, "broken")
			m, err := p.Create(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			s.faults.Arm(providertest.Down, 1000, func(r *http.Request) bool { return strings.Contains(r.URL.Path, which) })
			for range 3 {
				e := app.AsError(p.Delete(t.Context(), m.ID))
				if e.Code != app.ETransient || e.Reason != app.ReasonCloudBroken || e.ForPeople() != "OpenStack isn't working properly right now: it can't reach its networking service (Neutron)" {
					t.Errorf("people see %s %s %q", e.Code, e.Reason, e.ForPeople())
				}
			}
			s.faults.Disarm()
			if err := p.Delete(t.Context(), m.ID); err != nil {
				t.Error(err)
			}
			s.clear(t, p)
		})
	}
}

// Without Cinder, Nova takes a server with a volume and fails to build it. It isn't asked then, and people read what is missing.
func TestDisksNeedVolumeService(t *testing.T) {
	s, h := harness(t, nil)
	s.With(func(c *fake.Cloud) { c.Services = []string{"compute", "network", "image"} })
	p := h.Open(t)
	for _, setting := range []string{"boot_volume_gb", "data_disk_gb"} {
		spec, _ := h.Spec(t, setting)
		spec.Flavor.Extra = map[string]string{setting: "10"}
		_, err := p.Create(t.Context(), spec)
		if app.CodeOf(err) != app.EInvalid || !strings.Contains(err.Error(), "no volume service") {
			t.Errorf("%s: %v", setting, err)
		}
	}
	if n := s.faults.Created(); n > 0 {
		t.Errorf("%d creates", n)
	}
}

// A server that is deleted while it's built may end in ERROR by the build's failure, with the deletion forgotten. It's requested again.
func TestDeleteOvertakenByFailedBuild(t *testing.T) {
	for overtaken, code := range map[int]app.Code{1: "", 3: app.ETransient} {
		s, h := harness(t, nil)
		p := s.open(t, nil)
		spec, _ := h.Spec(t, "overtaken")
		m, err := p.Create(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		s.With(func(c *fake.Cloud) { c.Overtaken = overtaken })
		if err := p.Delete(t.Context(), m.ID); app.CodeOf(err) != code {
			t.Errorf("%d times: %v", overtaken, err)
		}
		s.With(func(c *fake.Cloud) { c.Overtaken = 0 })
		s.clear(t, p)
	}
}
