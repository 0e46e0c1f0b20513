package google

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/providers/google/internal/gcp"
	"muster/providers/providertest"
)

func (c *cloud) with(do func()) { c.mu.Lock(); defer c.mu.Unlock(); do() }

// calls tells how many calls have come whose method and path end so.
func (c *cloud) calls(method, suffix string) (n int) {
	c.with(func() {
		for _, s := range c.seen {
			if strings.HasPrefix(s, method+" ") && strings.HasSuffix(s, suffix) {
				n++
			}
		}
	})
	return n
}

func TestWhatIsAskedFor(t *testing.T) {
	c := newCloud(t, nil)
	p := c.open(t, map[string]any{"network": "own", "subnetwork": "own-west3", "service_account": "web@acme-prod.iam.gserviceaccount.com", "root_disk_gb": 30})
	s := spec(t, "web")
	s.Tags["team"], s.Tags["note"] = "blue", "Ünder the sea"
	s.Flavor.Extra = map[string]string{"spot": "true", "data_disk_gb": "50", "data_disk_type": "pd-ssd", "external_ip": "false", "scopes": "logging.write"}
	s.Image.SSHUser = "ops"
	m, err := p.Create(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	i := c.only(t)
	if want := "web-" + digest(providertest.Installation, "web")[:12]; i.Name != want || m.ID != testZone+"/"+want || i.Hostname != "web.suite.test" {
		t.Errorf("%s %s %s", i.Name, m.ID, i.Hostname)
	}
	if i.Labels["team"] != "blue" || i.Labels["note"] != "-nder-the-sea" || i.Labels[family.TagIntent] != "web" ||
		!maps.Equal(i.Labels, i.Disks[1].InitializeParams.Labels) {
		t.Errorf("labels %v", i.Labels)
	}
	meta := metaOf(i)
	if meta["block-project-ssh-keys"] != "TRUE" || meta["enable-oslogin"] != "FALSE" || !strings.Contains(meta["startup-script"], "SSH_USER='ops'") {
		t.Errorf("metadata %v", meta)
	}
	nic := i.NetworkInterfaces[0]
	if base(nic.Network) != "own" || base(nic.Subnetwork) != "own-west3" || len(nic.AccessConfigs) != 0 {
		t.Errorf("%+v", nic)
	}
	if d := i.Disks[0].InitializeParams; d.DiskSizeGB != 30 || base(d.DiskType) != "pd-balanced" || d.SourceImage != "projects/debian-cloud/global/images/family/debian-12" {
		t.Errorf("%+v", d)
	}
	if d := i.Disks[1].InitializeParams; d.DiskSizeGB != 50 || base(d.DiskType) != "pd-ssd" || i.Disks[1].Boot {
		t.Errorf("%+v", d)
	}
	if a := i.ServiceAccounts; len(a) != 1 || !slices.Equal(a[0].Scopes, []string{"https://www.googleapis.com/auth/logging.write"}) {
		t.Errorf("%+v", a)
	}
	if i.Scheduling.ProvisioningModel != "SPOT" || i.Scheduling.InstanceTerminationAction != "STOP" {
		t.Errorf("%+v", i.Scheduling)
	}
	got := providertest.Eventually(t, p, m.ID)
	if got.SSHUser != "ops" || got.Addresses[app.AddressAccess] != nic.NetworkIP || got.Addresses[app.AddressBind] != nic.NetworkIP || !got.OwnRoot {
		t.Errorf("%+v", got)
	}
	// Google takes a spot machine away.
	c.with(func() { c.instances[m.ID].Status = "TERMINATED" })
	if got, err := p.Describe(t.Context(), m.ID); err != nil || got.State != family.MachineStopped || !strings.Contains(got.Note, "spot") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestIntentInAnotherZone(t *testing.T) {
	c := newCloud(t, nil)
	p := c.open(t, nil)
	s := spec(t, "moved")
	first, err := p.Create(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	s.Zone = otherZone
	again, err := p.Create(t.Context(), s)
	if err != nil || again.ID != first.ID {
		t.Errorf("%s beside %s, %v", again.ID, first.ID, err)
	}
	c.only(t)
}

func TestConflictIsInspected(t *testing.T) {
	c := newCloud(t, nil)
	c.forgetful = true // so that the name alone prevents a second machine
	p := c.open(t, nil)
	s := spec(t, "race")
	ids := make(chan string)
	for range 6 {
		go func() {
			m, err := p.Create(t.Context(), s)
			if err != nil {
				t.Error(err)
			}
			ids <- m.ID
		}()
	}
	first := <-ids
	for range 5 {
		if id := <-ids; id != first {
			t.Errorf("%s beside %s", id, first)
		}
	}
	c.only(t)

	// A machine of that name that is not ours.
	other := spec(t, "taken")
	name := machineName(other)
	c.with(func() {
		c.instances[testZone+"/"+name] = &gcp.Instance{Name: name, Zone: links + "projects/" + testProject + "/zones/" + testZone, Status: "RUNNING"}
	})
	if _, err := p.Create(t.Context(), other); app.CodeOf(err) != app.EConflict {
		t.Error(err)
	}
}

func TestMachineThatFailsDuringCreate(t *testing.T) {
	faults := newFaults()
	c := newCloud(t, faults)
	p := c.open(t, nil)
	s := spec(t, "unlucky")
	c.with(func() {
		c.fails = &gcp.OperationErrorItem{Code: "ZONE_RESOURCE_POOL_EXHAUSTED", Message: "no room"}
	})
	faults.Arm(providertest.Lost, 1, faults.Creates)
	if _, err := p.Create(t.Context(), s); err == nil {
		t.Fatal("the lost answer isn't reported")
	}
	if _, err := p.Create(t.Context(), s); app.CodeOf(err) != app.ETransient && app.CodeOf(err) != app.ECapacity {
		t.Errorf("%v has code %q", err, app.CodeOf(err))
	}
	if _, err := p.Create(t.Context(), s); app.CodeOf(err) != app.ECapacity {
		t.Errorf("%v has code %q", err, app.CodeOf(err))
	}
}

func TestUnreachableZone(t *testing.T) {
	c := newCloud(t, nil)
	p := c.open(t, nil)
	s := spec(t, "here")
	if _, err := p.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	c.with(func() { c.unreachable = "us-east1-b" })
	if ms, err := p.List(t.Context(), nil); app.CodeOf(err) != app.ETransient || ms != nil {
		t.Errorf("%v, %v", ms, err)
	}
	if _, err := p.Create(t.Context(), spec(t, "another")); app.CodeOf(err) != app.ETransient {
		t.Error(err)
	}
	c.only(t)
}

func TestInvalidAPIResponses(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	c := newCloud(t, nil)
	p := c.open(t, map[string]any{"api_url": server.URL})
	_, err := p.Describe(t.Context(), testZone+"/n1")
	if app.CodeOf(err) != app.ETransient {
		t.Errorf("a page that is not there means that the machine is gone: %v", err)
	}
	if err := p.Delete(t.Context(), testZone+"/n1"); app.CodeOf(err) != app.ETransient {
		t.Error(err)
	}
}

func TestReadiness(t *testing.T) {
	c := newCloud(t, nil)
	c.mutes = true
	p := c.open(t, nil)
	m, err := p.Create(t.Context(), spec(t, "mute"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Describe(t.Context(), m.ID); err != nil || got.State != family.MachineStarting || got.Note == "" {
		t.Errorf("%+v, %v", got, err)
	}
	c.with(func() {
		c.instances[m.ID].LastStartTimestamp = time.Now().Add(-mute - time.Second).Format(time.RFC3339)
	})
	if got, err := p.Describe(t.Context(), m.ID); err != nil || got.State != family.MachineRunning {
		t.Errorf("%+v, %v", got, err)
	}
	before := c.calls("GET", "/getGuestAttributes")
	if _, err := p.Describe(t.Context(), m.ID); err != nil || c.calls("GET", "/getGuestAttributes") != before {
		t.Errorf("what is known is asked again, %v", err)
	}
}

func TestWakeWithoutRoom(t *testing.T) {
	c := newCloud(t, nil)
	p := c.open(t, nil)
	m, err := p.Create(t.Context(), spec(t, "sleeper"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Sleep(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	c.with(func() {
		c.fails = &gcp.OperationErrorItem{Code: "ZONE_RESOURCE_POOL_EXHAUSTED", Message: "no room"}
	})
	if err := p.Wake(t.Context(), m.ID); app.CodeOf(err) != app.ECapacity {
		t.Error(err)
	}
	c.with(func() { c.fails = nil; c.instances[m.ID].Status = "SUSPENDED" })
	if got, err := p.Describe(t.Context(), m.ID); err != nil || got.State != family.MachineStopped || got.Addresses[app.AddressAccess] != "" {
		t.Errorf("%+v, %v", got, err)
	}
	if err := p.Wake(t.Context(), m.ID); err != nil || c.calls("POST", "/resume") != 1 {
		t.Error(err)
	}
}

func TestAdopt(t *testing.T) {
	c := newCloud(t, nil)
	p := c.open(t, nil)
	s := spec(t, "pooled")
	m, err := p.Create(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	s.Hostname, s.Tags = "db.c2.test", maps.Clone(s.Tags)
	s.Tags[family.TagCluster], s.Tags[family.TagTenant] = "c2", "Über GmbH"
	s.Firewall = &template.Firewall{}
	for range 2 { // a second time it changes nothing
		if err := p.Adopt(t.Context(), m.ID, s); err != nil {
			t.Fatal(err)
		}
	}
	for _, verb := range []string{"/setMetadata", "/setLabels", "/setTags"} {
		if n := c.calls("POST", verb); n != 1 {
			t.Errorf("%d calls of %s", n, verb)
		}
	}
	found, err := p.List(t.Context(), map[string]string{family.TagCluster: "c2", family.TagTenant: "Über GmbH"})
	if err != nil || len(found) != 1 || found[0].Hostname != "db.c2.test" || !maps.Equal(found[0].Tags, s.Tags) || found[0].HostKey != m.HostKey {
		t.Errorf("%+v, %v", found, err)
	}
	if i := c.only(t); !slices.Equal(i.Tags.Items, []string{networkTag(s.Tags)}) || metaOf(i)["startup-script"] == "" {
		t.Errorf("%+v", i.Tags)
	}
	if err := p.Adopt(t.Context(), testZone+"/none", s); app.CodeOf(err) != app.ENotFound {
		t.Error(err)
	}
}

func TestFirewallRules(t *testing.T) {
	c := newCloud(t, nil)
	p := c.open(t, map[string]any{"ssh_from": "203.0.113.7/24, 2001:db8::/32"})
	s := spec(t, "one")
	s.Firewall = &template.Firewall{Rules: []template.FirewallRule{{Protocol: "tcp", Ports: "8000-8100", From: []string{"0.0.0.0/0", "::/0"}}, {Protocol: "icmp", From: []string{"::/0"}}}}
	m, err := p.Create(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	tag := networkTag(s.Tags)
	c.with(func() {
		ssh, six, inside, closed := c.firewalls[tag+"-ssh-v4"], c.firewalls[tag+"-ssh-v6"], c.firewalls[tag+"-inside"], c.firewalls[tag+"-closed"]
		if ssh == nil || six == nil || inside == nil || closed == nil || len(c.firewalls) != 7 {
			t.Fatalf("rules %v", slices.Collect(maps.Keys(c.firewalls)))
		}
		if !slices.Equal(ssh.SourceRanges, []string{"203.0.113.0/24"}) || !slices.Equal(six.SourceRanges, []string{"2001:db8::/32"}) || ssh.Allowed[0].Ports[0] != "22" {
			t.Errorf("%+v", ssh)
		}
		if !slices.Equal(inside.SourceTags, []string{tag}) || closed.Denied[0].IPProtocol != "all" || closed.Priority <= ssh.Priority || closed.Priority >= 65534 {
			t.Errorf("%+v, %+v", inside, closed)
		}
		// Someone opens one by hand, and another is switched off.
		ssh.SourceRanges, inside.Disabled = []string{"0.0.0.0/0"}, true
	})
	before := c.calls("POST", "/firewalls")
	next := spec(t, "two")
	next.Firewall = &template.Firewall{Rules: s.Firewall.Rules[:1]} // and a rule less
	if _, err := p.Create(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	c.with(func() {
		if len(c.firewalls) != 6 || !slices.Equal(c.firewalls[tag+"-ssh-v4"].SourceRanges, []string{"203.0.113.0/24"}) || c.firewalls[tag+"-inside"].Disabled {
			t.Errorf("%+v", c.firewalls)
		}
	})
	if c.calls("POST", "/firewalls") != before {
		t.Error("existing rules are created again")
	}
	if err := p.DeleteShared(t.Context(), "firewall/"+tag+"-ssh-v4"); app.CodeOf(err) != app.ETransient {
		t.Errorf("a rule that is used is removed: %v", err)
	}
	c.with(func() { c.firewalls["muster-own"] = &gcp.Firewall{Name: "muster-own", Description: "by hand"} })
	if things, err := p.Shared(t.Context(), nil); err != nil || len(things) != 6 {
		t.Errorf("%+v, %v", things, err)
	}
	if err := p.DeleteShared(t.Context(), "firewall/muster-own"); app.CodeOf(err) != app.EForbidden {
		t.Errorf("a rule that is not ours is removed: %v", err)
	}
	for _, id := range []string{"", "../x", "network/x", "firewall/none"} {
		if err := p.DeleteShared(t.Context(), id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	_ = m
}

func TestFirewallOfASubnetwork(t *testing.T) {
	c := newCloud(t, nil)
	p := c.open(t, map[string]any{"subnetwork": "own-west3"})
	s := spec(t, "one")
	s.Firewall = &template.Firewall{}
	if _, err := p.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	c.with(func() {
		if f := c.firewalls[networkTag(s.Tags)+"-inside"]; f == nil || base(f.Network) != "own" {
			t.Errorf("%+v", f)
		}
	})
}

func TestCheckWithoutResourceManager(t *testing.T) {
	c := newCloud(t, nil)
	c.noIAM = true
	found, err := c.open(t, nil).CheckAccount(t.Context(), family.AccountNeeds{})
	if err != nil || !slices.ContainsFunc(found, func(f family.Finding) bool { return f.Warning && f.About == family.AboutPermissions && f.Hint != "" }) {
		t.Errorf("%+v, %v", found, err)
	}
	for _, f := range found {
		if !f.OK && !f.Warning {
			t.Errorf("%+v", f)
		}
	}
}

func TestOffers(t *testing.T) {
	c := newCloud(t, nil)
	o, err := c.open(t, nil).Offers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var images []string
	for _, i := range o.Images {
		images = append(images, i.Image.Image)
	}
	if want := []string{"debian-12", "ubuntu-2404-lts-amd64", "web"}; !slices.Equal(images, want) || o.Images[0].CreatedAt.Month() != time.February {
		t.Errorf("%v, %+v", images, o.Images)
	}
	if len(o.Zones) != 3 || len(o.Flavors) != 4 || !slices.Equal(o.Flavors[0].Zones, []string{testZone, otherZone}) || o.Flavors[0].MemoryGB != 4 ||
		o.Currency != "" {
		t.Errorf("%+v", o)
	}
}

// GPUs come with the machine type or are attached by model. Machines with some are stopped for the host's maintenance.
func TestGPUs(t *testing.T) {
	c := newCloud(t, nil)
	p := c.open(t, nil)
	o, err := p.Offers(t.Context())
	if err != nil || !slices.ContainsFunc(o.Flavors, func(f family.FlavorOffer) bool {
		return f.Flavor.Flavor == "g2-standard-8" && f.GPUs == 1 && f.GPU == "nvidia-l4"
	}) {
		t.Errorf("%+v, %v", o.Flavors, err)
	}
	for name, f := range map[string]struct {
		flavor template.Flavor
		says   string // where a check finds something wrong, part of it
		quota  string // that the check needs
	}{
		"of the machine type":        {template.Flavor{Flavor: "g2-standard-8", GPUs: 1}, "", "NVIDIA_L4_GPUS"},
		"attached":                   {template.Flavor{Flavor: "n1-standard-4", GPUs: 2, GPU: "nvidia-tesla-t4"}, "", "NVIDIA_T4_GPUS"},
		"attached without a model":   {template.Flavor{Flavor: "n1-standard-4", GPUs: 1}, "must name the model in gpu", ""},
		"more than the machine type": {template.Flavor{Flavor: "g2-standard-8", GPUs: 2}, "has 1 GPU, but the hardware type lists 2", ""},
		"of a machine without":       {template.Flavor{Flavor: "e2-medium", GPUs: 1}, "has 0 GPUs, but the hardware type lists 1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.with(func() { c.quotas["NVIDIA_L4_GPUS"], c.quotas["NVIDIA_T4_GPUS"] = 4, 4 })
			s := spec(t, strings.ReplaceAll(name, " ", "-"))
			s.Flavor = f.flavor
			needs := family.AccountNeeds{Machines: []family.MachineNeed{{Count: 1, Flavor: s.Flavor, Image: s.Image}}}
			wrong := func() (all string) {
				found, err := p.CheckAccount(t.Context(), needs)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range found {
					if !f.OK && !f.Warning {
						all += f.Message
					}
				}
				return all
			}
			if all := wrong(); (all == "") != (f.says == "") || !strings.Contains(all, f.says) {
				t.Errorf("the check finds %q, want %q", all, f.says)
			}
			if f.says != "" {
				return
			}
			c.with(func() { c.quotas[f.quota] = 0 })
			if all := wrong(); !strings.Contains(all, f.quota) {
				t.Errorf("the quota isn't looked at: %q", all)
			}
			m, err := p.Create(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			c.with(func() {
				if i := c.instances[m.ID]; i.Scheduling.OnHostMaintenance != "TERMINATE" || (len(i.GuestAccelerators) > 0) != (f.flavor.GPU != "") {
					t.Errorf("%+v %+v", i.Scheduling, i.GuestAccelerators)
				}
			})
		})
	}
}

func TestKeyIsNotShown(t *testing.T) {
	c := newCloud(t, nil)
	p := c.open(t, nil)
	c.with(func() { c.revoked = true })
	_, err := p.List(t.Context(), nil)
	if app.CodeOf(err) != app.ECredentials || strings.Contains(err.Error(), "PRIVATE KEY") || strings.Contains(err.Error(), "assertion") {
		t.Errorf("%v has code %q", err, app.CodeOf(err))
	}
	c.server.Close()
	if _, err := p.List(t.Context(), nil); err == nil || strings.Contains(err.Error(), "PRIVATE KEY") {
		t.Error(err)
	}
}

func TestTheStartupScriptIsBash(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("bash is missing")
		}
		t.Skip("bash is missing")
	}
	script, hostKey, err := startup(spec(t, "n1"), "root", "", true)
	c := exec.Command("bash", "-n")
	c.Stdin = strings.NewReader(script)
	if out, runErr := c.CombinedOutput(); err != nil || runErr != nil || hostKey == "" || !strings.Contains(script, "guest-attributes/muster/started") {
		t.Errorf("%v, %v: %s", err, runErr, out)
	}
}
