package azure

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/providers/providertest"
)

func specOf(t *testing.T, intent string) family.MachineSpec {
	t.Helper()
	s, _ := providertest.Harness{Flavor: simSize, Image: simImage}.Spec(t, intent)
	return s
}

func mustCreate(t *testing.T, g *group, spec family.MachineSpec) family.Machine {
	t.Helper()
	m, err := g.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (w *world) count(call string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.requests {
		if strings.Contains(r, call) {
			n++
		}
	}
	return n
}

func TestCreateRequest(t *testing.T) {
	w := newWorld(t)
	g := w.open(t, "data_disk_gb", "10", "user_data", "#cloud-config\npackages: [htop]\n")
	spec := specOf(t, "order")
	spec.Image.SSHUser, spec.Zone = "admin1", simLocation+"-3"
	spec.Flavor.Extra = map[string]string{"data_disk_gb": "70", "disk_type": "Premium_LRS", "spot": "true"}
	spec.Tags["windows-owner"], spec.Tags["x-ray"] = "ada", "yes"
	m := mustCreate(t, g, spec)
	vm := w.last
	p := vm.Properties
	if value(vm.Zones[0]) != "3" || m.Zone != spec.Zone || *p.OSProfile.AdminUsername != "admin1" || m.SSHUser != "admin1" || *p.OSProfile.ComputerName != "order" {
		t.Errorf("machine %+v of %+v", m, p.OSProfile)
	}
	if value(p.Priority) != armcompute.VirtualMachinePriorityTypesSpot || value(p.EvictionPolicy) != armcompute.VirtualMachineEvictionPolicyTypesDeallocate || value(p.BillingProfile.MaxPrice) != -1 {
		t.Errorf("spot: %v %v %v", p.Priority, p.EvictionPolicy, p.BillingProfile)
	}
	d := p.StorageProfile.DataDisks[0]
	if value(d.DiskSizeGB) != 70 || value(d.ManagedDisk.StorageAccountType) != armcompute.StorageAccountTypesPremiumLRS || p.StorageProfile.OSDisk.DiskSizeGB != nil {
		t.Errorf("disks: %+v", d)
	}
	custom, _ := base64.StdEncoding.DecodeString(*p.OSProfile.CustomData)
	for _, part := range []string{"#cloud-config", "ed25519_private", "PRIVATE KEY", spec.AuthorizedKey, "name: admin1", "muster-data-disks", "fqdn: " + spec.Hostname, "packages:\n    - htop"} {
		if !strings.Contains(string(custom), part) {
			t.Errorf("user data lack %q", part)
		}
	}
	if value(vm.Tags["x-windows-owner"]) != "ada" || value(vm.Tags["x-x-ray"]) != "yes" || m.Tags["windows-owner"] != "ada" || m.Tags["x-ray"] != "yes" {
		t.Errorf("tags: %v, at Azure %v", m.Tags, tagsFrom(vm.Tags))
	}
	if card := w.cards.is[cardName(m.ID)]; value(card.Tags[family.TagIntent]) != "order" || value(w.ips.is[addressName(m.ID)].Tags[family.TagIntent]) != "order" {
		t.Error("interface and address lack the tags")
	}
}

// Without a name of its own that Azure accepts, root's machine gets Azure's usual user, and Muster still signs in as root.
func TestRootSignsIn(t *testing.T) {
	w := newWorld(t)
	m := mustCreate(t, w.open(t), specOf(t, "root"))
	custom, _ := base64.StdEncoding.DecodeString(*w.last.Properties.OSProfile.CustomData)
	if m.SSHUser != "root" || *w.last.Properties.OSProfile.AdminUsername != defaultAdmin || !strings.Contains(string(custom), "disable_root: false") {
		t.Errorf("%q signs in, Azure creates %q: %s", m.SSHUser, *w.last.Properties.OSProfile.AdminUsername, custom)
	}
}

// A second create never changes a running machine, nor its interface.
func TestCreateChangesNothingThatExists(t *testing.T) {
	w := newWorld(t)
	g := w.open(t)
	spec := specOf(t, "one")
	mustCreate(t, g, spec)
	before := w.count("PUT")
	spec.Flavor.Flavor, spec.Firewall = "Standard_D4s_v5", &template.Firewall{}
	mustCreate(t, w.open(t), spec)
	if n := w.count("PUT") - before; n > 0 {
		t.Errorf("%d changes", n)
	}
}

// Several processes create the machine of one intent. Each sees the others' parts half made; one is the first to create the machine.
func TestProcessesCreateOneMachine(t *testing.T) {
	w := newWorld(t)
	spec := specOf(t, "race")
	spec.Firewall = &template.Firewall{}
	type result struct {
		m   family.Machine
		err error
	}
	results := make(chan result)
	const n = 5
	for range n {
		g := w.open(t)
		go func() {
			m, err := g.Create(t.Context(), spec)
			for try := 0; try < 50 && app.CodeOf(err) == app.ETransient; try++ { // as the engine does
				m, err = g.Create(t.Context(), spec)
			}
			results <- result{m, err}
		}()
	}
	for range n {
		if r := <-results; r.err != nil || r.m.ID != machineName(spec.Tags, spec.Intent) || r.m.State != family.MachineRunning {
			t.Errorf("%+v, %v", r.m, r.err)
		}
	}
	if left := w.left(); len(left) != 6 {
		t.Errorf("there are %v", left)
	}
}

func TestSpotFallsBack(t *testing.T) {
	for name, refuse := range map[string]func(s *sim){
		"no room at once": func(s *sim) { s.refuse["PUT virtualMachines"] = &simError{409, "SkuNotAvailable", "Not available."} },
		"no room later":   func(s *sim) { s.fails["create"] = &simError{409, "AllocationFailed", "Allocation failed."} },
		"no quota": func(s *sim) {
			s.refuse["PUT virtualMachines"] = &simError{409, "OperationNotAllowed", "It results in exceeding approved LowPriorityCores quota."}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.spotOnly = true
			refuse(w.sim)
			m := mustCreate(t, w.open(t, "spot", "fallback"), specOf(t, "cheap"))
			if w.last.Properties.Priority != nil || strings.Contains(m.Note, "spot") || m.State != family.MachineRunning {
				t.Errorf("machine %+v", m)
			}
			if _, err := w.open(t, "spot", "true").Create(t.Context(), specOf(t, "only")); app.CodeOf(err) != app.ECapacity && app.CodeOf(err) != app.EQuota {
				t.Errorf("only spot: %v", err)
			}
		})
	}
}

// Azure may say of a machine that never started that it's deallocated, as of one that sleeps.
func TestFailedCreatesAreDeleted(t *testing.T) {
	for _, power := range []string{"", "stopped", "deallocated"} {
		w := newWorld(t)
		w.failPower = power
		w.fails["create"] = &simError{409, "ZonalAllocationFailed", "Allocation failed."}
		if _, err := w.open(t).Create(t.Context(), specOf(t, "one")); app.CodeOf(err) != app.ECapacity {
			t.Errorf("%q: %v", power, err)
		}
		if left := w.left(); len(left) > 0 {
			t.Errorf("%q: left are %v", power, left)
		}
	}
}

// A machine that was made, but whose agent didn't answer in time, runs.
func TestProvisioningTimeoutsAreIgnored(t *testing.T) {
	w := newWorld(t)
	w.failPower = "running"
	w.fails["create"] = &simError{409, "OSProvisioningTimedOut", "OS Provisioning did not finish in the allotted time."}
	if m := mustCreate(t, w.open(t), specOf(t, "slow")); m.State != family.MachineRunning {
		t.Errorf("%+v", m)
	}
}

func TestEvictedMachinesAreTaken(t *testing.T) {
	w := newWorld(t)
	g := w.open(t, "spot", "true")
	m := mustCreate(t, g, specOf(t, "cheap"))
	w.mu.Lock()
	setState(w.vms.is[m.ID], "Succeeded", "deallocated")
	w.mu.Unlock()
	got, err := g.Describe(t.Context(), m.ID)
	list, listErr := g.List(t.Context(), nil)
	if err != nil || listErr != nil || got.State != family.MachineStopped || !got.Taken || !list[0].Taken {
		t.Errorf("%+v, %v; %+v, %v", got, err, list, listErr)
	}
}

// Azure keeps the interface of a machine that it refused for a while. It's listed until it can be deleted, and the next create uses it.
func TestReservedInterfacesAreFound(t *testing.T) {
	w := newWorld(t)
	g := w.open(t)
	w.reserved["*"] = true
	w.refuse["PUT virtualMachines"] = &simError{409, "SkuNotAvailable", "Not available."}
	spec := specOf(t, "late")
	if _, err := g.Create(t.Context(), spec); app.CodeOf(err) != app.ECapacity {
		t.Fatalf("create: %v", err)
	}
	things, err := g.Shared(t.Context(), map[string]string{family.TagCluster: "c1"})
	if err != nil || len(things) != 1 || things[0].Tags[family.TagIntent] != "late" || things[0].CreatedAt.IsZero() {
		t.Fatalf("listed are %+v, %v", things, err)
	}
	if err := g.DeleteShared(t.Context(), things[0].ID); app.CodeOf(err) != app.ETransient {
		t.Errorf("while it's reserved: %v", err)
	}
	w.reserved = map[string]bool{}
	if err := g.DeleteShared(t.Context(), things[0].ID); err != nil {
		t.Error(err)
	}
	if left := w.left(); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	delete(w.refuse, "PUT virtualMachines")
	m := mustCreate(t, g, spec)
	if err := g.DeleteShared(t.Context(), kindParts+"/"+m.ID); app.CodeOf(err) != app.ETransient {
		t.Errorf("the parts of an existing machine: %v", err)
	}
}

// What a create left that was killed is deleted with its intent's machine, though that never existed.
func TestDeleteRemovesLeftovers(t *testing.T) {
	w := newWorld(t)
	g := w.open(t)
	w.refuse["PUT virtualMachines"] = &simError{503, "ServiceUnavailable", "Try later."}
	spec := specOf(t, "killed")
	if _, err := g.Create(t.Context(), spec); app.CodeOf(err) != app.ETransient {
		t.Fatal(err)
	}
	if left := w.left(); len(left) != 2 {
		t.Fatalf("the interface and the address should be there: %v", left)
	}
	if err := g.Delete(t.Context(), machineName(spec.Tags, spec.Intent)); err != nil {
		t.Fatal(err)
	}
	if left := w.left(); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}

// A machine that couldn't wake, and is Failed at Azure, keeps its disks: creating it again doesn't delete it.
func TestFailedWakeKeepsTheMachine(t *testing.T) {
	w := newWorld(t)
	g := w.open(t)
	spec := specOf(t, "sleeper")
	m := mustCreate(t, g, spec)
	if err := g.Sleep(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	w.fails["start"] = &simError{409, "AllocationFailed", "Allocation failed."}
	if err := g.Wake(t.Context(), m.ID); app.CodeOf(err) != app.ECapacity {
		t.Errorf("wake: %v", err)
	}
	again := mustCreate(t, g, spec)
	if again.ID != m.ID || again.State != family.MachineStopped || !strings.Contains(again.Note, "failed") {
		t.Errorf("%+v", again)
	}
}

// The role may not allow to read the subscription's list, which has the power states.
func TestListWithoutTheSubscription(t *testing.T) {
	w := newWorld(t)
	g := w.open(t)
	for i := range 4 {
		mustCreate(t, g, specOf(t, fmt.Sprint("m", i)))
	}
	single := "GET /subscriptions/" + simSubscription + "/resourceGroups/" + simGroup + "/providers/Microsoft.Compute/virtualMachines/"
	before := w.count(single)
	all, err := g.List(t.Context(), nil)
	if n := w.count(single) - before; err != nil || len(all) != 4 || n > 0 {
		t.Errorf("%d machines with %d calls for one, %v", len(all), n, err)
	}
	w.denied["GET allVirtualMachines"] = true
	all, err = g.List(t.Context(), nil)
	if err != nil || len(all) != 4 || slices.ContainsFunc(all, func(m family.Machine) bool { return m.State != family.MachineRunning }) {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestSignInErrorsAreExplained(t *testing.T) {
	for text, want := range map[string]string{
		"AADSTS7000222: The provided client secret keys for app '2222' are expired.": "The client secret has expired.",
		"AADSTS7000215: Invalid client secret provided.":                             "Microsoft Entra ID rejected the client secret.",
		"AADSTS700016: Application with identifier '2222' was not found.":            "The directory has no application with this client_id.",
		"AADSTS90002: Tenant not found.":                                             "The directory doesn't exist.",
		"AADSTS50034: Something else is wrong.":                                      "Microsoft Entra ID rejected the credentials: AADSTS50034, Something else is wrong. Trace ID: 5f3c.",
	} {
		w := newWorld(t)
		w.signIn = text
		_, err := w.open(t).Describe(t.Context(), "muster-0123456789abcdef0123")
		if e := app.AsError(err); e.Code != app.ECredentials || e.Message != want || e.Hint == "" || strings.Contains(fmt.Sprint(err), simSecret) {
			t.Errorf("%s: %+v", text, e)
		}
	}
}

func TestErrorsHaveTheirCodes(t *testing.T) {
	for _, c := range []struct {
		status  int
		code    string
		message string
		want    app.Code
	}{
		{404, "ResourceNotFound", "gone", app.ENotFound},
		{404, "ResourceGroupNotFound", "gone", app.EInvalid}, // says nothing of machines
		{404, "SubscriptionNotFound", "gone", app.ECredentials},
		{404, "", "", app.ETransient}, // a proxy
		{409, "OperationNotAllowed", "exceeding approved Total Regional Cores quota", app.EQuota},
		{409, "OperationNotAllowed", "the disk is attached", app.ETransient},
		{429, "TooManyRequests", "slow down", app.ERateLimit},
		{429, "AnotherOperationInProgress", "wait", app.ETransient},
		{400, "NicReservedForAnotherVm", "wait", app.ETransient},
		{412, "PreconditionFailed", "it exists", app.EConflict},
		{400, "InvalidParameter", "no", app.EInvalid},
		{400, "PublicIPCountLimitReached", "no", app.EQuota},
		{500, "InternalServerError", "oops", app.ETransient},
		{403, "RequestDisallowedByPolicy", "no", app.EInvalid},
		{0, "AllocationFailed", "no room", app.ECapacity},
		{0, "SomethingNew", "no", app.EInvalid},
	} {
		e := refusal(c.status, nil, c.code, c.message)
		if e.Code != c.want || e.Message == "" || c.want == app.ERateLimit && e.RetryAfter == 0 {
			t.Errorf("%d %s: %+v", c.status, c.code, e)
		}
	}
	if err := errors.New("dial tcp: connection refused"); coded(err) != err {
		t.Error("network failures are the wrapper's")
	}
}

func TestSettings(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		more  []string
		field string
	}{
		"good":                   {nil, ""},
		"a subnet by its ID":     {[]string{"subnet", simSubnet}, ""},
		"a zone by its ID":       {[]string{"dns_zone", "/subscriptions/" + simSubscription + "/resourceGroups/dns/providers/Microsoft.Network/dnszones/Example.org"}, ""},
		"no secret":              {[]string{"client_secret", "", "directory_id", ""}, ""},
		"a secret alone":         {[]string{"client_id", ""}, "settings.client_id"},
		"no directory":           {[]string{"directory_id", ""}, "settings.directory_id"},
		"a bad subscription":     {[]string{"subscription_id", "mine"}, "settings.subscription_id"},
		"a location with spaces": {[]string{"location", "West Europe"}, "settings.location"},
		"a subnet alone":         {[]string{"subnet", "default"}, "settings.subnet"},
		"plain HTTP":             {[]string{"api_url", "http://127.0.0.1:1"}, "settings.api_url"},
		"a name in an address":   {[]string{"login_url", "https://u:p@login.example.com"}, "settings.login_url"},
		"a bad prefix":           {[]string{"ssh_from", "everywhere"}, "settings.ssh_from"},
		"a bad disk type":        {[]string{"disk_type", "floppy"}, "settings.disk_type"},
		"a bad zone":             {[]string{"dns_zone", "x y"}, "settings.dns_zone"},
		"user data of no form":   {[]string{"user_data", "hello"}, "settings.user_data"},
	} {
		err := Check(w.settings(c.more...))
		if (err == nil) != (c.field == "") || err != nil && (app.AsError(err).Field != c.field || strings.Contains(err.Error(), simSecret)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFirewallRules(t *testing.T) {
	w := newWorld(t)
	g := w.open(t, "ssh_from", "203.0.113.7/24")
	spec := specOf(t, "one")
	spec.Firewall = &template.Firewall{Rules: []template.FirewallRule{{Protocol: "tcp", Ports: "443", From: []string{"0.0.0.0/0", "::/0"}}, {Protocol: "udp", Ports: "53", From: []string{"::/0"}}}}
	mustCreate(t, g, spec)
	name := firewallName(spec.Tags)
	rules := func() (out []string) {
		for _, r := range w.walls.is[name].Properties.SecurityRules {
			p := r.Properties
			from := []string{value(p.SourceAddressPrefix)}
			for _, x := range p.SourceAddressPrefixes {
				from = append(from, *x)
			}
			for _, m := range p.SourceApplicationSecurityGroups {
				from = append(from, base(m.ID))
			}
			out = append(out, fmt.Sprintf("%d %s %s %s %s%s", *p.Priority, *r.Name, *p.Access, *p.Protocol, *p.DestinationPortRange, strings.Join(from, " ")))
		}
		return out
	}
	want := []string{"200 inside Allow * * " + name, "201 ssh Allow Tcp 22 203.0.113.0/24", "202 rule-00 Allow Tcp 443 0.0.0.0/0", "4096 closed Deny * **"}
	if got := rules(); !slices.Equal(got, want) {
		t.Errorf("rules %q", got)
	}
	if !carries(tagsFrom(w.walls.is[name].Tags), map[string]string{family.TagCluster: "c1"}) || w.walls.is[name].Tags[family.TagIntent] != nil {
		t.Errorf("tags %v", tagsFrom(w.walls.is[name].Tags))
	}
	// Someone has opened it by hand. The next machine's create closes it.
	*w.walls.is[name].Properties.SecurityRules[1].Properties.SourceAddressPrefixes[0] = "0.0.0.0/0"
	next := specOf(t, "two")
	next.Firewall = spec.Firewall
	mustCreate(t, g, next)
	if got := rules(); !slices.Equal(got, want) {
		t.Errorf("rules %q", got)
	}
	before := w.count("PUT /subscriptions/" + simSubscription + "/resourceGroups/" + simGroup + "/providers/" + kindWall)
	third := specOf(t, "three")
	third.Firewall = spec.Firewall
	mustCreate(t, g, third)
	if n := w.count("PUT /subscriptions/" + simSubscription + "/resourceGroups/" + simGroup + "/providers/" + kindWall); n != before {
		t.Error("rules that are right are written again")
	}
}
