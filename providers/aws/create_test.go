package aws

import (
	"encoding/base64"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"muster/app"
	appfamily "muster/app/family"
	"muster/app/template"
	"muster/providers/providertest"
)

func specOf(t testing.TB, intent string) appfamily.MachineSpec {
	s, _ := providertest.Harness{Flavor: "t9.small", Image: "ami-0000000a"}.Spec(t, intent)
	return s
}

func mustCreate(t testing.TB, c *cloud, s appfamily.MachineSpec) appfamily.Machine {
	t.Helper()
	m, err := c.Create(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// form returns what RunInstances was asked for a machine.
func (r *testRegion) form(t *testing.T, id string) url.Values {
	t.Helper()
	r.sim.mu.Lock()
	defer r.sim.mu.Unlock()
	i := r.sim.byID(id)
	if i == nil {
		t.Fatalf("no instance %s", id)
	}
	return i.form
}

func wantForm(t *testing.T, f url.Values, want map[string]string) {
	t.Helper()
	for k, v := range want {
		if got := f.Get(k); got != v {
			t.Errorf("%s is %q, want %q", k, got, v)
		}
	}
}

func TestWhatIsAskedFor(t *testing.T) {
	r := newRegion(t)
	c := r.open(t, map[string]any{"root_disk_gb": 20, "data_disk_gb": "50", "encrypt_disks": true, "kms_key_id": "key-1", "instance_profile": "workers", "placement_group": "close",
		"tenancy": "dedicated", "security_group_ids": "sg-0000000e", "key_pair": "ada",
		"user_data": "#cloud-config\npackages: [htop]"})
	s := specOf(t, "all")
	s.Image.Image = "ami-0000000b"
	s.Flavor.Extra = map[string]string{"data_disk_type": "st1", "data_disk_gb": "125", "disks": "of something else"}
	m := mustCreate(t, c, s)
	if m.SSHUser != "muster" || m.Zone != "eu-test-1a" || m.CreatedAt.IsZero() || !m.OwnRoot {
		t.Errorf("%+v", m)
	}
	f := r.form(t, m.ID)
	wantForm(t, f, map[string]string{
		"MetadataOptions.HttpTokens": "required", "MetadataOptions.HttpPutResponseHopLimit": "1", "MetadataOptions.HttpEndpoint": "enabled",
		"InstanceInitiatedShutdownBehavior":   "stop",
		"BlockDeviceMapping.1.DeviceName":     "/dev/sda1",
		"BlockDeviceMapping.1.Ebs.VolumeSize": "20", "BlockDeviceMapping.1.Ebs.VolumeType": "gp3", "BlockDeviceMapping.1.Ebs.Encrypted": "true", "BlockDeviceMapping.1.Ebs.KmsKeyId": "key-1",
		"BlockDeviceMapping.1.Ebs.DeleteOnTermination": "true",
		"BlockDeviceMapping.2.DeviceName":              "/dev/sdf", "BlockDeviceMapping.2.Ebs.DeleteOnTermination": "true", "BlockDeviceMapping.2.Ebs.VolumeSize": "1", // the image's
		"BlockDeviceMapping.3.DeviceName": "/dev/sdg", "BlockDeviceMapping.3.Ebs.DeleteOnTermination": "true", "BlockDeviceMapping.3.Ebs.VolumeSize": "125", "BlockDeviceMapping.3.Ebs.VolumeType": "st1",
		"KeyName": "ada", "IamInstanceProfile.Name": "workers", "Placement.GroupName": "close", "Placement.Tenancy": "dedicated",
		"NetworkInterface.1.SecurityGroupId.1": "sg-0000000e", "NetworkInterface.1.SecurityGroupId.2": "", "NetworkInterface.1.AssociatePublicIpAddress": "true",
		"NetworkInterface.1.DeleteOnTermination": "true", "NetworkInterface.1.SubnetId": "subnet-0000000a",
		"TagSpecification.1.ResourceType": "instance", "TagSpecification.2.ResourceType": "volume", "TagSpecification.3.ResourceType": "network-interface",
	})
	each(f, "TagSpecification", func(_ func(string) string, sub url.Values) {
		if tags := tagsIn(sub); tags[appfamily.TagIntent] != "all" || tags["Name"] != s.Hostname {
			t.Errorf("tags %v", tags)
		}
	})
	data, err := base64.StdEncoding.DecodeString(f.Get("UserData"))
	if err != nil || !strings.Contains(string(data), "- htop") || !strings.Contains(string(data), "name: muster") ||
		!strings.Contains(string(data), "muster-data-disks") ||
		!strings.Contains(string(data), s.AuthorizedKey) {
		t.Errorf("user data %s, %v", data, err)
	}

	s = specOf(t, "plain")
	s.Image.SSHUser = "admin"
	s.Flavor.Extra = map[string]string{"user_data": "#!/bin/sh\necho mine"}
	plain := mustCreate(t, r.open(t, map[string]any{"instance_profile": "arn:aws:iam::111111111111:instance-profile/workers"}), s)
	if plain.SSHUser != "admin" {
		t.Errorf("user %q", plain.SSHUser)
	}
	f = r.form(t, plain.ID)
	if data, _ := base64.StdEncoding.DecodeString(f.Get("UserData")); !strings.Contains(string(data), "\n#!/bin/sh\necho mine\n") {
		t.Errorf("user data %s", data)
	}
	wantForm(t, f, map[string]string{"KeyName": "", "IamInstanceProfile.Arn": "arn:aws:iam::111111111111:instance-profile/workers",
		"BlockDeviceMapping.1.Ebs.VolumeSize": "8", "BlockDeviceMapping.1.Ebs.Encrypted": "",
		"BlockDeviceMapping.2.DeviceName": "", "Placement.Tenancy": "", "InstanceMarketOptions.MarketType": "", "NetworkInterface.1.SecurityGroupId.1": ""})
}

func TestAddresses(t *testing.T) {
	r := newRegion(t)
	r.sim.boot = time.Hour
	seen := mustCreate(t, r.open(t, nil), specOf(t, "seen"))
	hidden := mustCreate(t, r.open(t, map[string]any{"public_address": "false"}), specOf(t, "hidden"))
	for _, m := range []appfamily.Machine{seen, hidden} {
		if m.Addresses["access_v4"] != "" || m.Addresses["bind_v4"] == "" || m.State != appfamily.MachineStarting {
			t.Errorf("while it starts: %+v", m)
		}
	}
	r.sim.mu.Lock()
	r.sim.boot = 0
	r.sim.mu.Unlock()
	c := r.open(t, nil)
	seen, hidden = providertest.Eventually(t, c, seen.ID), providertest.Eventually(t, c, hidden.ID)
	if !strings.HasPrefix(seen.Addresses["access_v4"], "198.51.100.") || hidden.Addresses["access_v4"] != hidden.Addresses["bind_v4"] {
		t.Errorf("%v, %v", seen.Addresses, hidden.Addresses)
	}
	if err := c.Sleep(t.Context(), seen.ID); err != nil {
		t.Fatal(err)
	}
	if m, err := c.Describe(t.Context(), seen.ID); err != nil || m.Addresses["access_v4"] != "" {
		t.Errorf("asleep: %v, %v", m.Addresses, err)
	}
	if err := c.Wake(t.Context(), seen.ID); err != nil { // while it is still stopping
		t.Error(err)
	}
}

func TestSpot(t *testing.T) {
	r := newRegion(t)
	c := r.open(t, map[string]any{"spot": "fallback"})
	m := providertest.Eventually(t, c, mustCreate(t, c, specOf(t, "cheap")).ID)
	wantForm(t, r.form(t, m.ID), map[string]string{"InstanceMarketOptions.MarketType": "spot", "InstanceMarketOptions.SpotOptions.SpotInstanceType": "one-time",
		"InstanceInitiatedShutdownBehavior": "terminate", "TagSpecification.4.ResourceType": "spot-instances-request"})
	if e := app.AsError(c.Sleep(t.Context(), m.ID)); e.Code != app.EInvalid || e.Reason != "cannot_sleep" {
		t.Errorf("sleep: %v", e)
	}
	r.sim.mu.Lock()
	r.sim.noSpot = true
	r.sim.mu.Unlock()
	if again := mustCreate(t, c, specOf(t, "cheap")); again.ID != m.ID {
		t.Error("a second machine")
	}
	dear := mustCreate(t, c, specOf(t, "dear"))
	wantForm(t, r.form(t, dear.ID), map[string]string{"InstanceMarketOptions.MarketType": ""})
	_, err := r.open(t, map[string]any{"spot": "true"}).Create(t.Context(), specOf(t, "none"))
	if app.CodeOf(err) != app.ECapacity {
		t.Errorf("spot alone: %v", err)
	}
	s := specOf(t, "own")
	s.Flavor.Extra = map[string]string{"spot": "false"}
	wantForm(t, r.form(t, mustCreate(t, c, s).ID), map[string]string{"InstanceMarketOptions.MarketType": ""})
}

func TestInstanceStoreCannotSleep(t *testing.T) {
	c := newRegion(t).open(t, nil)
	s := specOf(t, "stored")
	s.Flavor.Flavor = "d9.large"
	m := providertest.Eventually(t, c, mustCreate(t, c, s).ID)
	if e := app.AsError(c.Sleep(t.Context(), m.ID)); e.Code != app.EInvalid || e.Reason != "cannot_sleep" {
		t.Errorf("sleep: %v", e)
	}
}

func TestZonesAreTriedInTurn(t *testing.T) {
	r := newRegion(t)
	c := r.open(t, nil)
	s := specOf(t, "somewhere")
	s.Flavor.Flavor = "n9.large" // which zone a does not have
	if m := mustCreate(t, c, s); m.Zone != "eu-test-1b" {
		t.Errorf("zone %s", m.Zone)
	}
	s = specOf(t, "here")
	s.Flavor.Flavor, s.Zone = "n9.large", "eu-test-1a"
	if _, err := c.Create(t.Context(), s); app.CodeOf(err) != app.ECapacity {
		t.Errorf("in zone a: %v", err)
	}
	m := mustCreate(t, r.open(t, map[string]any{"subnet_id": "subnet-0000000c, subnet-0000000b"}), specOf(t, "named"))
	if m.Zone != "eu-test-1c" {
		t.Errorf("with subnets named, zone %s", m.Zone)
	}
	m = mustCreate(t, r.open(t, map[string]any{"vpc_id": "vpc-1111111d"}), specOf(t, "vpc"))
	wantForm(t, r.form(t, m.ID), map[string]string{"NetworkInterface.1.SubnetId": "subnet-1111111a"})
	m = mustCreate(t, r.open(t, map[string]any{"zone": "eu-test-1c"}), specOf(t, "default zone"))
	if m.Zone != "eu-test-1c" {
		t.Errorf("with a zone set, zone %s", m.Zone)
	}
}

func TestImagesByName(t *testing.T) {
	r := newRegion(t)
	c := r.open(t, nil)
	for name, want := range map[string]string{"name:" + debian + "/debian-12-amd64-*": "ami-1000000b", "name:self/base-?": "ami-0000000b"} {
		s := specOf(t, name)
		s.Image.Image = name
		wantForm(t, r.form(t, mustCreate(t, c, s).ID), map[string]string{"ImageId": want})
	}
	s := specOf(t, "none")
	s.Image.Image = "name:" + canonical + "/debian-*"
	if _, err := c.Create(t.Context(), s); app.CodeOf(err) != app.EInvalid {
		t.Error(err)
	}
}

// A client token of another request: the image behind a name has changed since.
func TestClientTokenOfAnotherRequest(t *testing.T) {
	r := newRegion(t)
	first := mustCreate(t, r.open(t, nil), specOf(t, "twice"))
	other := specOf(t, "twice")
	other.Image.Image = "ami-0000000b"

	// EC2 shows the machine too late for the look before, but in time for the second look.
	r.sim.mu.Lock()
	r.sim.lag = quick.late / 2
	r.sim.byID(first.ID).made = time.Now()
	r.sim.mu.Unlock()
	if m := mustCreate(t, r.open(t, nil), other); m.ID != first.ID || m.HostKey != first.HostKey {
		t.Errorf("a second machine %s, or another host key", m.ID)
	}

	// It was deleted, and so long ago that EC2 does not show it any more.
	if err := r.open(t, nil).Delete(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	r.sim.mu.Lock()
	r.sim.lag = 0
	r.sim.machines = slices.DeleteFunc(r.sim.machines, func(i *simInstance) bool { return i.id == first.ID })
	r.sim.mu.Unlock()
	if m := mustCreate(t, r.open(t, nil), other); m.ID == first.ID {
		t.Error("the deleted machine is given")
	}
}

func TestIntentCanBeRecreated(t *testing.T) {
	r := newRegion(t)
	c := r.open(t, nil)
	var had []string
	spec := specOf(t, "again")
	for range 4 {
		m := mustCreate(t, c, spec)
		if slices.Contains(had, m.ID) {
			t.Fatalf("%s is given once more, after %v", m.ID, had)
		}
		had = append(had, m.ID)
		if err := c.Delete(t.Context(), m.ID); err != nil {
			t.Fatal(err)
		}
		if len(had)%2 == 0 { // EC2 shows them for about an hour; tokens it knows for longer
			r.sim.mu.Lock()
			for _, i := range r.sim.machines {
				i.tags = nil
			}
			r.sim.mu.Unlock()
		}
	}
}

func TestDeleteBeforeListed(t *testing.T) {
	r := newRegion(t)
	c := r.open(t, nil)
	m := mustCreate(t, c, specOf(t, "quick"))
	r.sim.mu.Lock()
	r.sim.byID(m.ID).made = time.Now() // it is not known for a while yet
	r.sim.mu.Unlock()
	if err := c.Delete(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	if left := r.left(); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	if err := c.Delete(t.Context(), "i-0123456789abcdef0"); err != nil {
		t.Errorf("one that never was: %v", err)
	}
}

func TestTagsThatLookLikePatterns(t *testing.T) {
	c := newRegion(t).open(t, nil)
	for i, note := range []string{`a*`, `ab`, `a?`, `a\*`, ``} {
		s := specOf(t, "pattern-"+string(rune('a'+i)))
		s.Tags["note"] = note
		mustCreate(t, c, s)
	}
	for _, note := range []string{`a*`, `ab`, `a?`, `a\*`, ``, `*`} {
		ms, err := c.List(t.Context(), map[string]string{"note": note})
		if want := 1; err != nil || note != "*" && len(ms) != want || note == "*" && len(ms) != 0 {
			t.Errorf("%q: %d machines, %v", note, len(ms), err)
		}
	}
}

func TestAdopt(t *testing.T) {
	r := newRegion(t)
	c := r.open(t, nil)
	pool := specOf(t, "pooled")
	pool.Tags["pool"] = "warm"
	m := mustCreate(t, c, pool)
	node := specOf(t, "pooled")
	node.Hostname = "n7.c7.suite.test"
	node.Tags[appfamily.TagCluster], node.Tags[appfamily.TagNode] = "c7", "n7"
	for range 2 {
		if err := c.Adopt(t.Context(), m.ID, node); err != nil {
			t.Fatal(err)
		}
		got, err := c.Describe(t.Context(), m.ID)
		if err != nil || !maps.Equal(got.Tags, node.Tags) || got.Hostname != node.Hostname || got.HostKey != m.HostKey || got.HostKey == "" || got.SSHUser != "muster" {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if n := r.sim.asked["CreateTags"]; n != 1 {
		t.Errorf("%d calls for what was done already", n)
	}
	if again := mustCreate(t, c, node); again.ID != m.ID {
		t.Error("the intent has got another machine")
	}
	// With a firewall it is in the groups that it would have been made with, and in no others.
	c = r.open(t, map[string]any{"security_group_ids": "sg-0000000e"})
	node.Firewall = &template.Firewall{}
	for range 2 {
		if err := c.Adopt(t.Context(), m.ID, node); err != nil {
			t.Fatal(err)
		}
	}
	if got := slices.Sorted(slices.Values(r.behind(m.ID))); !slices.Equal(got, []string{"muster-suite-c7", "office"}) || r.sim.asked["ModifyNetworkInterfaceAttribute"] != 1 {
		t.Errorf("it is behind %v, after %d calls", got, r.sim.asked["ModifyNetworkInterfaceAttribute"])
	}
	if err := c.Adopt(t.Context(), "i-0123456789abcdef0", node); app.CodeOf(err) != app.ENotFound {
		t.Error(err)
	}
}

// A question may be answered so late that lists aren't late any more by then. That answer is of the time before, so EC2 is asked once more.
func TestEC2IsRetriedAfterListLag(t *testing.T) {
	unknown := &app.Error{Code: app.ENotFound, Reason: "InvalidInstanceID.NotFound", Message: "Unknown."}
	for name, tt := range map[string]struct {
		takes time.Duration // an answer
		knows time.Duration // EC2, after so long
		want  error
	}{
		"at once":           {0, 0, nil},
		"late":              {0, quick.late - time.Millisecond, nil},
		"never":             {0, time.Hour, unknown},
		"slow":              {2 * quick.late, quick.late, nil},
		"slow and never":    {2 * quick.late, time.Hour, unknown},
		"nearly at the end": {quick.late - time.Millisecond, quick.late, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				err := quick.patiently(t.Context(), func() error {
					asked := time.Since(began)
					time.Sleep(tt.takes)
					if asked < tt.knows {
						return unknown
					}
					return nil
				}, unknown.Reason)
				if !errors.Is(err, tt.want) {
					t.Errorf("%v, want %v", err, tt.want)
				}
				if took := time.Since(began); took > 2*quick.late+2*tt.takes {
					t.Errorf("asked for %s", took)
				}
			})
		})
	}
}

func TestEC2TerminatesFailedInstances(t *testing.T) {
	r := newRegion(t)
	c := r.open(t, nil)
	for reason, want := range map[string]app.Code{"Client.InternalError": app.EInvalid, "Client.VolumeLimitExceeded": app.EQuota, "Server.InsufficientInstanceCapacity": app.ECapacity,
		"Server.InternalError": app.ETransient, "Client.UserInitiatedShutdown": app.ETransient} {
		r.sim.mu.Lock()
		r.sim.failedAtStart = reason
		r.sim.mu.Unlock()
		_, err := c.Create(t.Context(), specOf(t, "short"))
		if e := app.AsError(err); e.Code != want || !strings.Contains(e.Message, "Because it is so ("+reason+").") {
			t.Errorf("%s: %v (%s)", reason, err, app.CodeOf(err))
		}
	}
	r.sim.mu.Lock()
	r.sim.failedAtStart = ""
	r.sim.mu.Unlock()
	m := mustCreate(t, c, specOf(t, "short"))
	if err := c.Delete(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Describe(t.Context(), m.ID); app.CodeOf(err) != app.ENotFound || !strings.Contains(err.Error(), "Client.UserInitiatedShutdown") {
		t.Error(err)
	}
}
