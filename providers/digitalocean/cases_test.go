package digitalocean

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/digitalocean/godo"
	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/providers/providertest"
)

func (w *world) spec(t *testing.T, intent string) family.MachineSpec {
	t.Helper()
	s, _ := providertest.Harness{Flavor: "s-1vcpu-1gb", Image: "debian-12-x64"}.Spec(t, intent)
	return s
}

// count returns how often a call came.
func (w *world) count(call string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.requests {
		if r == call {
			n++
		}
	}
	return n
}

func (w *world) make(t *testing.T, c *cloud, spec family.MachineSpec) family.Machine {
	t.Helper()
	m, err := c.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// What this process made is known to it while lists still lack it; another process finds it by the time that is promised.
func TestListLag(t *testing.T) {
	w := newWorld(t)
	w.lag = 15 * time.Millisecond
	c := w.open(t)
	spec := w.spec(t, "late")
	first := w.make(t, c, spec)
	if again := w.make(t, c, spec); again.ID != first.ID {
		t.Errorf("made %s, and then %s", first.ID, again.ID)
	}
	time.Sleep(c.ListsLate())
	if again := w.make(t, w.open(t), spec); again.ID != first.ID {
		t.Errorf("another process made %s beside %s", again.ID, first.ID)
	}
	if n := w.count("POST /v2/droplets"); n != 1 {
		t.Errorf("%d droplets were asked for", n)
	}
	w.lag = time.Hour
	if err := c.Delete(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	if again := w.make(t, c, spec); again.ID == first.ID {
		t.Errorf("what was deleted, %s, was given again", again.ID)
	}
}

func TestAllPagesAreRead(t *testing.T) {
	w := newWorld(t)
	w.account["droplet_limit"] = 1000
	c := w.open(t)
	s := w.spec(t, "x")
	for i := range 2*perPage + 3 {
		tags := map[string]string{family.TagInstallation: providertest.Installation, family.TagIntent: fmt.Sprint("i", i), family.TagCluster: "c" + fmt.Sprint(i%2)}
		written, err := card{tags: tags}.write()
		if err != nil {
			t.Fatal(err)
		}
		w.droplets[i+1] = &simDroplet{id: i + 1, name: "n", status: "active", region: "fra1", size: s.Flavor.Flavor, tags: written, made: time.Now()}
	}
	for want, tags := range map[int]map[string]string{2*perPage + 3: nil, perPage + 2: {family.TagInstallation: providertest.Installation, family.TagCluster: "c0"}, 1: {family.TagIntent: "i7"}, 0: {family.TagIntent: "none"}} {
		got, err := c.List(t.Context(), tags)
		if err != nil || len(got) != want {
			t.Errorf("%v: %d machines, want %d (%v)", tags, len(got), want, err)
		}
	}
}

// A list whose length changes while it is read is read again: a page that moved up would hide one machine.
func TestListsThatChangeAreReread(t *testing.T) {
	all := make([]int, perPage+5)
	for i := range all {
		all[i] = i
	}
	reads := 0
	got, err := pages(t.Context(), "x", func(_ context.Context, o *godo.ListOptions) ([]int, *godo.Response, error) {
		reads++
		if reads == 2 {
			all = all[1:] // the first one is deleted between the pages
		}
		from, to := (o.Page-1)*perPage, min(o.Page*perPage, len(all))
		r := &godo.Response{Meta: &godo.Meta{Total: len(all)}, Links: &godo.Links{}}
		if to < len(all) {
			r.Links.Pages = &godo.Pages{Next: "https://x/?page=2"}
		}
		return all[from:to], r, nil
	})
	if err != nil || !slices.Equal(got, all) {
		t.Errorf("%d of %d are there after %d reads (%v)", len(got), len(all), reads, err)
	}
}

func TestCreateRequest(t *testing.T) {
	w := newWorld(t)
	c := w.open(t, "data_disk_gb", "10", "vpc_uuid", simVPC, "ssh_keys", simKey+" 512189", "monitoring", "true", "backups", "true", "ssh_from",
		"203.0.113.7/24, 198.51.100.1",
		"user_data", "#cloud-config\npackages: [htop]\n")
	spec := w.spec(t, "order")
	spec.Image = template.Image{Image: "9000001", SSHUser: "admin"}
	spec.Flavor = template.Flavor{Flavor: "s-2vcpu-2gb", Extra: map[string]string{"data_disk_gb": "70", "backups": "no"}}
	spec.Firewall = &template.Firewall{Rules: []template.FirewallRule{{Protocol: "tcp", Ports: "443", From: []string{"0.0.0.0/0"}}}}
	m := w.make(t, c, spec)
	b := w.last
	if b["name"] != spec.Hostname || b["region"] != "fra1" || b["vpc_uuid"] != simVPC || b["image"] != 9000001.0 || b["monitoring"] != true || b["backups"] != false || b["ipv6"] != false {
		t.Errorf("ordered: %v", b)
	}
	if keys := list(b["ssh_keys"]); len(keys) != 2 || keys[0] != simKey || keys[1] != 512189.0 {
		t.Errorf("keys: %v", keys)
	}
	for _, part := range []string{"#cloud-config", "ed25519_private", "PRIVATE KEY", spec.AuthorizedKey, "name: admin", "passwd -l root",
		"muster-data-disks", "fqdn: " + spec.Hostname,
		"packages:\n    - htop"} {
		if !strings.Contains(text(b["user_data"]), part) {
			t.Errorf("user data lack %q", part)
		}
	}
	for _, v := range w.volumes {
		if v.size != 70 || v.droplet == 0 || v.region != "fra1" {
			t.Errorf("volume %+v", v)
		}
	}
	for _, f := range w.firewalls {
		rules, _ := json.Marshal(f["inbound_rules"])
		for _, part := range []string{
			`{"ports":"22","protocol":"tcp","sources":{"addresses":["203.0.113.0/24","198.51.100.1/32"]}}`,
			`{"ports":"443","protocol":"tcp","sources":{"addresses":["0.0.0.0/0"]}}`,
			`{"ports":"0","protocol":"icmp","sources":{"tags":["muster-firewall:suite:c1"]}}`,
			`{"ports":"1-65535","protocol":"udp","sources":{"tags":["muster-firewall:suite:c1"]}}`,
		} {
			if !strings.Contains(string(rules), part) {
				t.Errorf("the firewall lacks %s: %s", part, rules)
			}
		}
	}
	got := providertest.Eventually(t, w.open(t, "data_disk_gb", "0"), m.ID)
	if got.SSHUser != "admin" || got.HostKey == "" || got.HostKey != m.HostKey || got.Zone != "fra1" || !strings.HasPrefix(got.Addresses["bind_v4"], "10.") || !strings.HasPrefix(got.Addresses["access_v4"], "192.241.") {
		t.Errorf("described by another process: %+v", got)
	}
	spec = w.spec(t, "elsewhere")
	spec.Zone = "nyc3"
	w.make(t, c, spec)
	if w.last["vpc_uuid"] != nil || w.last["region"] != "nyc3" {
		t.Errorf("in another region: %v", w.last)
	}
}

// A deletion that ends halfway is taken up againby any process and leaves nothing.
func TestDeleteResumes(t *testing.T) {
	for _, path := range []string{"GET /v2/volumes", "POST /v2/volumes/", "GET /v2/volumes/", "DELETE /v2/volumes/", "DELETE /v2/droplets/"} {
		for _, fault := range []providertest.Fault{providertest.Down, providertest.Lost} {
			t.Run(path+" "+string(fault), func(t *testing.T) {
				w := newWorld(t)
				c := w.open(t, "data_disk_gb", "5")
				m := w.make(t, c, w.spec(t, "half"))
				w.faults.Arm(fault, 1, func(r *http.Request) bool {
					call := r.Method + " " + r.URL.Path
					return call == path || strings.HasSuffix(path, "/") && strings.HasPrefix(call, path)
				})
				if err := c.Delete(t.Context(), m.ID); err == nil && fault == providertest.Down {
					t.Error("the failure isn't reported")
				}
				if w.faults.Disarm() > 0 {
					t.Fatal("the call did not come")
				}
				for range 2 {
					if err := w.open(t).Delete(t.Context(), m.ID); err != nil {
						t.Fatal(err)
					}
				}
				left := w.left()
				if path == "DELETE /v2/droplets/" && fault == providertest.Lost { // it is gone, and with it what would tell of its tags
					left = slices.DeleteFunc(left, func(s string) bool { return strings.HasPrefix(s, "tag ") })
				}
				if len(left) > 0 {
					t.Errorf("left: %v", left)
				}
			})
		}
	}
}

func TestDeleteWithoutItsScopes(t *testing.T) {
	w := newWorld(t)
	c := w.open(t, "data_disk_gb", "5")
	m := w.make(t, c, w.spec(t, "kept"))
	for _, scope := range []string{"block_storage_action:create", "block_storage:delete", "droplet:delete"} {
		undo := w.change(func(s *sim) func() { return set(s.lacks, scope, true) })()
		err := c.Delete(t.Context(), m.ID)
		undo()
		if e := app.AsError(err); e.Code != app.ECredentials || !strings.Contains(e.Message, scope) || e.Hint == "" {
			t.Errorf("without %s: %v", scope, err)
		}
	}
	undo := w.change(func(s *sim) func() { return set(s.lacks, "tag:delete", true) })()
	defer undo()
	if err := c.Delete(t.Context(), m.ID); err != nil {
		t.Errorf("a tag that stays is no failure: %v", err)
	}
}

func TestUnresponsiveDropletsArePoweredOff(t *testing.T) {
	w := newWorld(t)
	w.stubborn = true
	c := w.open(t)
	m := providertest.Eventually(t, c, w.make(t, c, w.spec(t, "stubborn")).ID)
	if err := c.Sleep(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Describe(t.Context(), m.ID); err != nil || got.State != family.MachineStopped {
		t.Errorf("%+v, %v", got, err)
	}
	if err := c.Wake(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Describe(t.Context(), m.ID); err != nil || got.State == family.MachineStopped {
		t.Errorf("once it was woken: %+v, %v", got, err)
	}
}

func TestUsedFirewallsAreKept(t *testing.T) {
	w := newWorld(t)
	c := w.open(t)
	spec := w.spec(t, "behind")
	spec.Firewall = &template.Firewall{}
	m := w.make(t, c, spec)
	things, err := c.Shared(t.Context(), map[string]string{family.TagInstallation: providertest.Installation})
	if err != nil || len(things) != 1 {
		t.Fatalf("%+v, %v", things, err)
	}
	if err := c.DeleteShared(t.Context(), things[0].ID); app.CodeOf(err) != app.ETransient {
		t.Errorf("deleting a firewall that is used: %v", err)
	}
	theirs := map[string]any{"id": "bb253a28-0a9c-4d3a-9a4c-999999999999", "name": "theirs", "tags": []string{"muster-firewall:suite:c1"}, "created_at": "2026-01-01T00:00:00Z"}
	w.firewalls[theirs["id"].(string)] = theirs
	if again, _ := c.Shared(t.Context(), nil); len(again) != 1 {
		t.Errorf("a firewall that someone else made is listed: %+v", again)
	}
	if err := c.Delete(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	if err := c.DeleteShared(t.Context(), things[0].ID); err != nil || len(w.firewalls) != 1 {
		t.Errorf("%v, %d firewalls", err, len(w.firewalls))
	}
	for _, id := range []string{"", "firewall/", "firewall/../x", "volume/1", "else/" + simVPC, "firewall/" + simVPC, "volume/" + simVPC} {
		if err := c.DeleteShared(t.Context(), id); err != nil {
			t.Errorf("delete %q: %v", id, err)
		}
	}
	w.lacks["firewall:read"], w.lacks["block_storage:read"] = true, true
	if things, err := c.Shared(t.Context(), nil); err != nil || len(things) > 0 {
		t.Errorf("who may see none has made none: %v, %v", things, err)
	}
	if _, err := c.Create(t.Context(), spec); app.CodeOf(err) != app.ECredentials || w.count("POST /v2/droplets") != 1 {
		t.Errorf("a machine without the firewall that was asked for: %v", err)
	}
}

func TestConcurrentCreatesShareAFirewall(t *testing.T) {
	w := newWorld(t)
	a, b := w.open(t), w.open(t)
	done := make(chan error)
	for i, c := range []*cloud{a, b, a, b} {
		spec := w.spec(t, fmt.Sprint("racer", i))
		spec.Firewall = &template.Firewall{}
		go func() { _, err := c.Create(t.Context(), spec); done <- err }()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if len(w.firewalls) != 1 {
		t.Errorf("%d firewalls", len(w.firewalls))
	}
}
