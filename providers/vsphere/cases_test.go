package vsphere

import (
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/types"

	"muster/app"
	"muster/app/family"
	"muster/providers/providertest"
)

var ours = map[string]string{family.TagInstallation: providertest.Installation}

// create makes a machine of the suite's kind.
func create(t *testing.T, c *cloud, spec family.MachineSpec) family.Machine {
	t.Helper()
	m, err := c.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ids(t *testing.T, c *cloud, tags map[string]string) []string {
	t.Helper()
	found, err := c.List(t.Context(), tags)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, m := range found {
		out = append(out, m.ID)
	}
	return out
}

// config reads a machine's configuration as vCenter has it.
func config(t *testing.T, c *cloud, id string) types.VirtualMachineConfigInfo {
	t.Helper()
	o, err := c.one(t.Context(), ref{Type: typeVM, Value: id}, "config")
	if err != nil {
		t.Fatal(err)
	}
	return prop[types.VirtualMachineConfigInfo](o, "config")
}

func extra(c types.VirtualMachineConfigInfo, key string) string {
	for _, o := range c.ExtraConfig {
		if v := o.GetOptionValue(); v.Key == key {
			s, _ := v.Value.(string)
			return s
		}
	}
	return ""
}

func TestCases(t *testing.T) {
	w := newWorld(t)
	h := w.harness(t, nil)
	spec := func(t *testing.T, intent string) family.MachineSpec { s, _ := h.Spec(t, intent); return s }
	for name, test := range map[string]func(t *testing.T){
		"a machine has what was ordered from its first moment": func(t *testing.T) { w.hasAll(t, spec(t, "whole")) },
		"a clone whose caller gave up is one machine":          func(t *testing.T) { w.cutOff(t, spec(t, "slow")) },
		"a clone whose process was killed is one machine":      func(t *testing.T) { w.killed(t, spec(t, "killed")) },
		"a clone that fails late is tried again":               func(t *testing.T) { w.failsLate(t, spec(t, "late")) },
		"a session that ended is opened again":                 func(t *testing.T) { w.sessions(t, spec(t, "session")) },
		"a login without an answer":                            func(t *testing.T) { w.loginLost(t, spec(t, "login")) },
		"someone else's machine keeps its name":                func(t *testing.T) { w.taken(t, spec(t, "taken")) },
		"a copy of a machine isn't Muster's":                   func(t *testing.T) { w.copied(t, spec(t, "copied")) },
		"a machine that can't be read isn't taken for lost":    func(t *testing.T) { w.unreadable(t, spec(t, "blind")) },
		"a renamed and moved machine is found":                 func(t *testing.T) { w.moved(t, spec(t, "moved")) },
		"user data go when they were read":                     func(t *testing.T) { w.secrets(t, spec(t, "secret")) },
		"vCenters without paths to keys":                       func(t *testing.T) { w.whole(t, spec(t, "keys")) },
		"a folder that was deleted is made again":              func(t *testing.T) { w.folderGone(t, spec(t, "folder")) },
		"templates by path, and datastore clusters":            func(t *testing.T) { w.places(t, spec(t, "path")) },
		"clusters without DRS":                                 func(t *testing.T) { w.withoutDRS(t, spec) },
		"lists take one call for each page":                    func(t *testing.T) { w.listCalls(t, spec) },
		"a rejected password isn't tried at once again":        func(t *testing.T) { w.rejected(t) },
		"a shutdown that takes too long is cut short":          func(t *testing.T) { w.hardStop(t, spec(t, "hard")) },
	} {
		t.Run(name, func(t *testing.T) {
			w.control(t, orders{Reset: true})
			test(t)
			w.control(t, orders{Reset: true})
		})
	}
}

func (w *world) hasAll(t *testing.T, spec family.MachineSpec) {
	c := w.open(t, "root_disk_gb", "20", "data_disk_gb", "5", "network", "DC0_DVPG0")
	spec.Tags["cost-centre"] = "7"
	m := create(t, c, spec)
	k := config(t, c, m.ID)
	var sizes []int64
	portgroup := ""
	for _, d := range k.Hardware.Device {
		switch d := d.(type) {
		case *types.VirtualDisk:
			sizes = append(sizes, d.CapacityInKB/gib)
		case types.BaseVirtualEthernetCard:
			if b, ok := d.GetVirtualEthernetCard().Backing.(*types.VirtualEthernetCardDistributedVirtualPortBackingInfo); ok && b.Port.SwitchUuid != "" {
				portgroup = b.Port.PortgroupKey
			}
		}
	}
	if k.Hardware.NumCPU != 2 || k.Hardware.MemoryMB != 4096 || !slices.Equal(sizes, []int64{20, 5}) || !strings.HasPrefix(portgroup, "dvportgroup-") {
		t.Errorf("%d vCPUs, %d MB, disks of %v GB, network %s", k.Hardware.NumCPU, k.Hardware.MemoryMB, sizes, portgroup)
	}
	if k.InstanceUuid != instanceUUID(spec.Tags) || !strings.HasPrefix(k.Name, "whole-") {
		t.Errorf("instance UUID %s, name %s", k.InstanceUuid, k.Name)
	}
	meta, _ := base64.StdEncoding.DecodeString(extra(k, keyMeta))
	user, _ := base64.StdEncoding.DecodeString(extra(k, keyUser))
	for text, parts := range map[string][]string{
		string(meta): {`"instance-id":"` + k.InstanceUuid, `"local-hostname":"` + spec.Hostname, `"redact":["userdata"]`},
		string(user): {"#cloud-config", spec.AuthorizedKey, "ed25519_private", "muster-data-disks"},
	} {
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%q lacks %q", text, part)
			}
		}
	}
	if extra(k, keyUser+keyEncoding) != "base64" || extra(k, keyMeta+keyEncoding) != "base64" {
		t.Error("the encodings are missing")
	}
	if strings.Contains(extra(k, keyCard), "PRIVATE") {
		t.Error("the card has the private host key")
	}
	got := providertest.Eventually(t, c, m.ID)
	if !maps.Equal(got.Tags, spec.Tags) || !strings.HasPrefix(got.Addresses["access_v4"], "10.1.") || got.CreatedAt.IsZero() || got.Zone != "DC0_C0" {
		t.Errorf("%+v", got)
	}
}

// slowClone asks for a clone that takes long, and gives up when vCenter has begun with it.
func (w *world) slowClone(t *testing.T, c *cloud, spec family.MachineSpec) {
	t.Helper()
	w.control(t, orders{Delay: map[string]int{"CloneVm": 2500}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { _, err := c.Create(ctx, spec); done <- err }()
	for c.asked.ID(intentKey(spec.Tags)) == "" {
		select {
		case err := <-done:
			t.Fatalf("no clone was asked for: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Fatalf("a caller that gave up: %v", err)
	}
}

// vCenter continues with a clone whose caller gave up, and another call gets the same machine.
func (w *world) cutOff(t *testing.T, spec family.MachineSpec) {
	c := w.open(t)
	before := w.faults.Created()
	w.slowClone(t, c, spec)
	if _, err := c.List(t.Context(), spec.Tags); app.CodeOf(err) != app.ETransient {
		t.Errorf("a look for a machine that's being cloned: %v", err)
	}
	m := create(t, c, spec)
	if n := w.faults.Created() - before; n != 1 {
		t.Errorf("%d clones were asked for, want 1", n)
	}
	w.only(t, c, m.ID)
}

// Another process knows nothing of the clone that is running. vCenter refuses the second.
func (w *world) killed(t *testing.T, spec family.MachineSpec) {
	before := w.faults.Created()
	w.slowClone(t, w.open(t), spec)
	c := w.open(t)
	m := create(t, c, spec)
	if n := w.faults.Created() - before; n != 2 {
		t.Errorf("%d clones were asked for, want 2: the test shows nothing", n)
	}
	w.only(t, c, m.ID)
}

// only wants one machine of ours, and nothing of another.
func (w *world) only(t *testing.T, c *cloud, id string) {
	t.Helper()
	if got := ids(t, c, ours); !slices.Equal(got, []string{id}) {
		t.Errorf("machines %v, want only %s", got, id)
	}
	if left := w.control(t, orders{}).Left; len(left) != 3 { // it, and its disk's two files
		t.Errorf("in vCenter: %v", left)
	}
	if err := c.Delete(t.Context(), id); err != nil {
		t.Error(err)
	}
	if left := w.control(t, orders{}).Left; len(left) > 0 {
		t.Errorf("after deletion: %v", left)
	}
}

func (w *world) failsLate(t *testing.T, spec family.MachineSpec) {
	c := w.open(t)
	w.control(t, orders{Tasks: map[string]string{"CloneVM_Task": "NoDiskSpace"}})
	if _, err := c.Create(t.Context(), spec); app.CodeOf(err) != app.ECapacity || !strings.Contains(err.Error(), "NoDiskSpace") {
		t.Errorf("no space: %v", err)
	}
	w.control(t, orders{})
	w.only(t, c, create(t, c, spec).ID)
}

func (w *world) sessions(t *testing.T, spec family.MachineSpec) {
	was := w.control(t, orders{}).Sessions
	c := w.open(t)
	var logins atomic.Int64
	create(t, c, spec)
	for range 3 {
		ids(t, c, ours)
	}
	if n := w.control(t, orders{}).Sessions - was; n != 1 {
		t.Errorf("%d sessions, want 1", n)
	}
	w.control(t, orders{Expire: true})
	isLogin := calls("Login")
	w.faults.Arm(providertest.Fault("none"), 100, func(r *http.Request) bool {
		if isLogin(r) {
			logins.Add(1)
		}
		return false
	})
	done := make(chan error, 4)
	for range cap(done) { // they all see that it ended, and one logs in
		go func() { _, err := c.List(t.Context(), ours); done <- err }()
	}
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	w.faults.Disarm()
	if n := logins.Load(); n != 1 {
		t.Errorf("%d logins after the session ended, want 1", n)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if n := w.control(t, orders{}).Sessions; n != 0 {
		t.Errorf("%d sessions after Close", n)
	}
}

// other clones a machine by someone else's hand.
func (w *world) other(t *testing.T, c *cloud, from ref, name string) ref {
	t.Helper()
	s, err := c.theSite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	folder, err := c.ensureFolder(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.place(t.Context(), s, "")
	if err != nil {
		t.Fatal(err)
	}
	o, err := c.one(t.Context(), from, propExtra)
	if err != nil {
		t.Fatal(err)
	}
	r := &types.CloneVM_Task{This: from, Folder: folder, Name: name, Spec: types.VirtualMachineCloneSpec{Location: types.VirtualMachineRelocateSpec{Pool: &p.pool},
		Config: &types.VirtualMachineConfigSpec{InstanceUuid: "00000000-0000-4000-8000-000000000001", MemoryMB: 64, NumCPUs: 1,
			ExtraConfig: prop[types.ArrayOfOptionValue](o, propExtra).OptionValue}}}
	answer, err := methods.CloneVM_Task(t.Context(), c, r)
	if err != nil {
		t.Fatal(err)
	}
	made, err := c.await(t.Context(), answer.Returnval)
	if err != nil {
		t.Fatal(err)
	}
	return made.(ref)
}

func (w *world) taken(t *testing.T, spec family.MachineSpec) {
	c := w.open(t)
	s, err := c.theSite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	template, err := c.template(t.Context(), s, "debian-12")
	if err != nil {
		t.Fatal(err)
	}
	theirs := w.other(t, c, template.ref, machineName(spec))
	if _, err := c.Create(t.Context(), spec); app.CodeOf(err) != app.EConflict || app.AsError(err).Hint == "" {
		t.Errorf("its name is someone else's machine's: %v", err)
	}
	if got := ids(t, c, nil); len(got) > 0 {
		t.Errorf("someone else's machine is listed: %v", got)
	}
	if m, err := c.Describe(t.Context(), theirs.Value); err != nil || len(m.Tags) > 0 {
		t.Errorf("someone else's machine: %+v, %v", m, err)
	}
}

func (w *world) copied(t *testing.T, spec family.MachineSpec) {
	c := w.open(t)
	m := create(t, c, spec)
	theirs := w.other(t, c, ref{Type: typeVM, Value: m.ID}, "copy of it")
	if extra(config(t, c, theirs.Value), keyCard) == "" {
		t.Fatal("the copy lacks what Muster noted, so the test shows nothing")
	}
	if got := ids(t, c, ours); !slices.Equal(got, []string{m.ID}) {
		t.Errorf("machines %v, want only %s", got, m.ID)
	}
	if got, err := c.Describe(t.Context(), theirs.Value); err != nil || len(got.Tags) > 0 {
		t.Errorf("the copy: %+v, %v", got, err)
	}
}

func (w *world) unreadable(t *testing.T, spec family.MachineSpec) {
	c := w.open(t)
	m := create(t, c, spec)
	w.control(t, orders{World: "blind"})
	_, listErr := c.List(t.Context(), ours)
	_, describeErr := c.Describe(t.Context(), m.ID)
	for _, err := range []error{listErr, describeErr} {
		if app.CodeOf(err) != app.ETransient || !strings.Contains(err.Error(), "blind-") {
			t.Errorf("its configuration can't be read: %v", err)
		}
	}
	w.control(t, orders{})
	if got := ids(t, c, ours); !slices.Equal(got, []string{m.ID}) {
		t.Errorf("afterwards: %v", got)
	}
}

func (w *world) moved(t *testing.T, spec family.MachineSpec) {
	c := w.open(t)
	m := create(t, c, spec)
	vm := ref{Type: typeVM, Value: m.ID}
	if err := c.reconfigure(t.Context(), vm, types.VirtualMachineConfigSpec{Name: "renamed by hand"}); err != nil {
		t.Fatal(err)
	}
	folder, err := c.machines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	below, err := methods.CreateFolder(t.Context(), c, &types.CreateFolder{This: *folder, Name: "below"})
	if err != nil {
		t.Fatal(err)
	}
	task, err := methods.MoveIntoFolder_Task(t.Context(), c, &types.MoveIntoFolder_Task{This: below.Returnval, List: []ref{vm}})
	if err == nil {
		_, err = c.await(t.Context(), task.Returnval)
	}
	if err != nil {
		t.Fatal(err)
	}
	if again := create(t, c, spec); again.ID != m.ID {
		t.Errorf("a second machine %s", again.ID)
	}
	if got := ids(t, c, ours); !slices.Equal(got, []string{m.ID}) {
		t.Errorf("in a folder below: %v", got)
	}
	if got := ids(t, w.open(t, "folder", "elsewhere"), spec.Tags); !slices.Equal(got, []string{m.ID}) {
		t.Errorf("by its intent, outside of the folder: %v", got)
	}
}

func (w *world) secrets(t *testing.T, spec family.MachineSpec) {
	c := w.open(t)
	m := create(t, c, spec)
	if extra(config(t, c, m.ID), keyUser) == "" {
		t.Fatal("no user data")
	}
	if err := c.Sleep(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	if k := config(t, c, m.ID); extra(k, keyUser) != "" || extra(k, keyMeta) == "" {
		t.Error("after sleep, the user data must be gone, and the metadata there, by which cloud-init knows that it isn't a new machine")
	}
	if again := create(t, c, spec); again.State != family.MachineStopped {
		t.Errorf("a repeated create starts a machine that was put to sleep: %s", again.State)
	}
	spec.Intent, spec.Tags[family.TagIntent] = "secret-2", "secret-2"
	pooled := providertest.Eventually(t, c, create(t, c, spec).ID)
	if err := c.Adopt(t.Context(), pooled.ID, spec); err != nil {
		t.Fatal(err)
	}
	if extra(config(t, c, pooled.ID), keyUser) != "" {
		t.Error("an adopted machine keeps the user data of its start")
	}
}

func (w *world) whole(t *testing.T, spec family.MachineSpec) {
	w.control(t, orders{Keys: true})
	c := w.open(t)
	m := create(t, c, spec)
	if got := ids(t, c, spec.Tags); !slices.Equal(got, []string{m.ID}) || !c.whole.Load() {
		t.Errorf("%v", got)
	}
}

func (w *world) folderGone(t *testing.T, spec family.MachineSpec) {
	c := w.open(t, "folder", "passing")
	if got := ids(t, c, ours); len(got) > 0 {
		t.Errorf("without a folder: %v", got)
	}
	gone := func() {
		folder, err := c.machines(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		task, err := methods.Destroy_Task(t.Context(), c, &types.Destroy_Task{This: *folder})
		if err == nil {
			_, err = c.await(t.Context(), task.Returnval)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, listed := range []bool{true, false} {
		m := create(t, c, spec)
		if err := c.Delete(t.Context(), m.ID); err != nil {
			t.Fatal(err)
		}
		gone()
		if listed {
			if got := ids(t, c, ours); len(got) > 0 {
				t.Errorf("after the folder was deleted: %v", got)
			}
		} else if _, err := c.Create(t.Context(), spec); app.CodeOf(err) != app.ETransient {
			t.Errorf("a create in a folder that was deleted: %v", err)
		}
		m = create(t, c, spec)
		if got := ids(t, c, ours); !slices.Equal(got, []string{m.ID}) {
			t.Errorf("in the new folder: %v", got)
		}
		if err := c.Delete(t.Context(), m.ID); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *world) places(t *testing.T, spec family.MachineSpec) {
	c := w.open(t, "datacenter", "DC0", "datastore", "DC0_POD0")
	offers, err := c.Offers(t.Context())
	if err != nil || len(offers.Images) != 2 || !slices.Equal(offers.Zones, []string{"DC0_C0", "DC0_C1"}) {
		t.Errorf("%+v, %v", offers, err)
	}
	if k := config(t, c, create(t, c, spec).ID); !strings.HasPrefix(k.Files.VmPathName, "[LocalDS_2]") {
		t.Errorf("in the datastore cluster: %s", k.Files.VmPathName)
	}
	c = w.open(t)
	for image, zone := range map[string]string{"other/ubuntu-24": "DC0_C1", "/DC0/vm/other/ubuntu-24": "DC0_C0"} {
		spec.Intent, spec.Tags[family.TagIntent] = image, image
		spec.Image.Image, spec.Zone = image, zone
		m := create(t, c, spec)
		if m.Zone != zone {
			t.Errorf("%s is in %s", image, m.Zone)
		}
	}
}

func (w *world) listCalls(t *testing.T, spec func(*testing.T, string) family.MachineSpec) {
	c := w.openWith(t, usual)
	for _, name := range []string{"a", "b", "c"} {
		create(t, c, spec(t, name))
	}
	before := w.faults.Calls()
	if got := ids(t, c, ours); len(got) != 3 {
		t.Errorf("%v", got)
	}
	if n := w.faults.Calls() - before; n != 1 {
		t.Errorf("a list of three machines takes %d calls", n)
	}
}

func (w *world) hardStop(t *testing.T, spec family.MachineSpec) {
	c := w.open(t)
	m := providertest.Eventually(t, c, create(t, c, spec).ID)
	for name, o := range map[string]orders{
		"without VMware Tools": {Faults: map[string]string{"ShutdownGuest": "ToolsUnavailable"}},
		"that takes forever":   {Delay: map[string]int{"ShutdownGuest": 60000}},
	} {
		w.control(t, o)
		if err := c.Sleep(t.Context(), m.ID); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := c.Describe(t.Context(), m.ID); err != nil || got.State != family.MachineStopped {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		w.control(t, orders{})
		if err := c.Wake(t.Context(), m.ID); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.control(t, orders{Delay: map[string]int{"ShutdownGuest": 60000}})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	if err := c.Sleep(ctx, m.ID); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 2*time.Second {
		t.Errorf("it's not stopped in time: %v after %s", err, time.Since(began))
	}
}

func (w *world) rejected(t *testing.T) {
	c := w.open(t, "password", "another")
	logins := 0
	isLogin := calls("Login")
	w.faults.Arm(providertest.Fault("none"), 100, func(r *http.Request) bool {
		if isLogin(r) {
			logins++
		}
		return false
	})
	defer w.faults.Disarm()
	for range 10 {
		if _, err := c.List(t.Context(), ours); app.CodeOf(err) != app.ECredentials || strings.Contains(err.Error(), "another") {
			t.Errorf("a wrong password: %v", err)
		}
	}
	if logins != 1 {
		t.Errorf("%d logins with a wrong password: vCenter locks users out after five", logins)
	}
}

// A cluster without DRS takes no machine that doesn't say on which host it is.
func (w *world) withoutDRS(t *testing.T, spec func(*testing.T, string) family.MachineSpec) {
	w.control(t, orders{World: "no DRS"})
	c := w.open(t, "network", "DC0_DVPG0")
	hosts := map[ref]bool{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		m := create(t, c, spec(t, name))
		o, err := c.one(t.Context(), ref{Type: typeVM, Value: m.ID}, "runtime.host")
		if err != nil {
			t.Fatal(err)
		}
		hosts[prop[ref](o, "runtime.host")] = true
	}
	if len(hosts) != 2 {
		t.Errorf("six machines are on %d of two hosts", len(hosts))
	}
}

func (w *world) loginLost(t *testing.T, spec family.MachineSpec) {
	for _, fault := range []providertest.Fault{providertest.Lost, providertest.Down} {
		c := w.open(t)
		w.faults.Arm(fault, 1, calls("Login"))
		_, err := c.Create(t.Context(), spec)
		if w.faults.Disarm() > 0 || err == nil || fault == providertest.Down && app.CodeOf(err) != app.ETransient {
			t.Errorf("%s: %v", fault, err)
		}
		w.only(t, c, create(t, c, spec).ID)
	}
}
