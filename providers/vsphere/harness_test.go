package vsphere

import (
	"net/http"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/providers/providertest"
)

func (w *world) harness(t *testing.T, more []string) providertest.Harness {
	var now *testing.T
	reopen := func(t *testing.T) family.Provider { now = t; return w.open(t, more...) }
	refusal := func(name string, code app.Code, o orders) providertest.Refusal {
		return providertest.Refusal{Name: name, Code: code, Arrange: func() func() {
			w.control(now, o)
			return func() { w.control(now, orders{}) }
		}}
	}
	h := providertest.Harness{
		Open: func(t *testing.T) family.Provider {
			w.control(t, orders{Reset: true})
			c := w.open(t, more...)
			now = t
			if _, err := c.theSite(t.Context()); err != nil { // so that half a second is enough for a create on a slow host
				t.Fatal(err)
			}
			return c
		},
		Reopen: reopen,
		Flavor: "2x4",
		Image:  "debian-12",
		Zone:   "DC0_C0",
		Faults: w.faults,
		Reads:  reads,
		Refuses: map[string]func(*family.MachineSpec){
			"a broken host key":          func(s *family.MachineSpec) { s.HostKey = []byte("no key") },
			"an unknown size":            func(s *family.MachineSpec) { s.Flavor.Flavor = "large" },
			"no size":                    func(s *family.MachineSpec) { s.Flavor.Flavor = "" },
			"too many vCPUs":             func(s *family.MachineSpec) { s.Flavor.Flavor = "9999x4" },
			"no image":                   func(s *family.MachineSpec) { s.Image.Image = "" },
			"an unknown template":        func(s *family.MachineSpec) { s.Image.Image = "debian-3" },
			"an unknown path":            func(s *family.MachineSpec) { s.Image.Image = "none/debian-12" },
			"a machine for a template":   func(s *family.MachineSpec) { s.Image.Image = "/DC0/vm/DC0_C1_RP1_VM0" },
			"an unknown zone":            func(s *family.MachineSpec) { s.Zone = "mars" },
			"a root disk that's smaller": func(s *family.MachineSpec) { s.Flavor.Extra = map[string]string{"root_disk_gb": "1"} },
			"a data disk of words":       func(s *family.MachineSpec) { s.Flavor.Extra = map[string]string{"data_disk_gb": "large"} },
		},
		Refusals: []providertest.Refusal{
			refusal("no memory left at the start", app.ECapacity, orders{Tasks: map[string]string{"PowerOnVM_Task": "InsufficientMemory"}}),
			refusal("no host at the clone", app.ECapacity, orders{Tasks: map[string]string{"CloneVM_Task": "NoCompatibleHost"}}),
			refusal("no space left", app.ECapacity, orders{Tasks: map[string]string{"CloneVM_Task": "NoDiskSpace"}}),
			refusal("no licenses", app.EQuota, orders{Faults: map[string]string{"PowerOnVM_Task": "NotEnoughLicenses"}}),
			refusal("no permission to clone", app.ECredentials, orders{Lacks: []string{"VirtualMachine.Provisioning.DeployTemplate"}}),
			refusal("no permission to start", app.ECredentials, orders{Lacks: []string{"VirtualMachine.Interact.PowerOn"}}),
			refusal("no permission in the pool", app.ECredentials, orders{Lacks: []string{"Resource.AssignVMToPool"}}),
			refusal("a configuration that's refused", app.EInvalid, orders{Faults: map[string]string{"CloneVM_Task": "InvalidVmConfig"}}),
			refusal("a template in use", app.ETransient, orders{Faults: map[string]string{"CloneVM_Task": "TaskInProgress"}}),
		},
		Partial: map[string]func(*http.Request) bool{
			"the look":  calls("FindByUuid"),
			"the clone": calls("CloneVM_Task"),
			"the start": calls("PowerOnVM_Task"),
		},
		Vanish: func(t *testing.T, _ string) { w.control(t, orders{Reset: true}) },
		Left:   func(t *testing.T) []string { return w.control(t, orders{}).Left },
		Late: func(t *testing.T) providertest.Late {
			w.control(t, orders{Reset: true, Delay: map[string]int{"CloneVm": 200}})
			late := quick
			late.late = 600 * time.Millisecond
			return providertest.Late{Lag: 150 * time.Millisecond, Open: func() family.Provider { return w.openWith(t, late, more...) }}
		},
	}
	h.Wrong = w.wrong(t, more)
	return h
}
