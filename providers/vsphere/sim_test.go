package vsphere

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	vim "github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
)

// The simulator is VMware's own, vcsim, in a process of its own: this test's binary, started with simVariable. It's stricter than vcsim in what is said here.
const (
	simVariable = "MUSTER_TEST_VCSIM"
	simUser     = "muster@vsphere.local"
	simPassword = "p&ss<w>rd"
)

// orders are what a test has the simulator do, in one request.
type orders struct {
	Reset  bool              `json:"reset,omitempty"`
	Expire bool              `json:"expire,omitempty"` // end all sessions
	Lacks  []string          `json:"lacks"`            // privileges that the user doesn't have
	Faults map[string]string `json:"faults"`           // by method: what the call is answered
	Tasks  map[string]string `json:"tasks"`            // by method: what its task ends in
	Delay  map[string]int    `json:"delay"`            // milliseconds, by task
	Keys   bool              `json:"keys,omitempty"`   // refuse paths to single keys
	World  string            `json:"world,omitempty"`  // what is otherwise in vCenter; see change
}

type sim struct {
	model  *simulator.Model
	client *vim25.Client

	mu      sync.Mutex
	orders  orders
	ended   map[string]bool // sessions
	blind   map[types.ManagedObjectReference]*types.VirtualMachineConfigInfo
	spoiled []types.ManagedObjectReference
	initial []string
}

// simMain runs the simulator until its standard input ends. It writes its address and certificate.
func simMain() error {
	log.SetOutput(io.Discard)
	m := simulator.VPX()
	m.Cluster, m.ClusterHost, m.Host, m.Pool, m.Datastore, m.Machine, m.Portgroup, m.Pod, m.Autostart = 2, 2, 0, 1, 3, 1, 1, 1, false
	if err := m.Create(); err != nil {
		return err
	}
	defer m.Remove()
	s := &sim{model: m, ended: map[string]bool{}, blind: map[types.ManagedObjectReference]*types.VirtualMachineConfigInfo{}}
	m.Service.TLS = new(tls.Config)
	m.Service.Listen = &url.URL{Host: "127.0.0.1:0", User: url.UserPassword(simUser, simPassword)}
	m.Service.HandleFunc("/control", s.control)
	server := m.Service.NewServer()
	defer server.Close()
	var err error
	if s.client, err = vim25.NewClient(context.Background(), m.Service); err != nil {
		return err
	}
	if err := s.furnish(context.Background()); err != nil {
		return err
	}
	s.initial = s.everything()
	s.change("")
	m.Map().Handler = s.before
	m.Map().AddHandler(guests{})
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := json.NewEncoder(os.Stdout).Encode(map[string]string{"url": "https://" + server.URL.Host, "cert": string(cert)}); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// furnish makes templates of two of the machines: debian-12, and in a folder of its own, other/ubuntu-24. A datastore goes into a datastore cluster.
func (s *sim) furnish(ctx context.Context) error {
	for _, e := range s.model.Map().All("Datastore") {
		if d := e.(*simulator.Datastore); d.Name == "LocalDS_2" {
			task, err := vim.NewStoragePod(s.client, s.model.Map().Any("StoragePod").Reference()).MoveInto(ctx, []types.ManagedObjectReference{d.Self})
			if err == nil {
				err = task.Wait(ctx)
			}
			if err != nil {
				return err
			}
		}
	}
	vms := s.vms()
	slices.SortFunc(vms, func(a, b *simulator.VirtualMachine) int { return strings.Compare(a.Name, b.Name) })
	dc := s.model.Map().Any("Datacenter").(*simulator.Datacenter)
	folder, err := vim.NewFolder(s.client, dc.VmFolder).CreateFolder(ctx, "other")
	if err != nil {
		return err
	}
	for i, name := range []string{"debian-12", "ubuntu-24"} {
		vm := vim.NewVirtualMachine(s.client, vms[i].Self)
		task, err := vm.Rename(ctx, name)
		if err == nil {
			err = task.Wait(ctx)
		}
		if err == nil && i == 1 {
			if task, err = folder.MoveInto(ctx, []types.ManagedObjectReference{vms[i].Self}); err == nil {
				err = task.Wait(ctx)
			}
		}
		if err == nil {
			err = vm.MarkAsTemplate(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *sim) vms() (out []*simulator.VirtualMachine) {
	for _, e := range s.model.Map().All("VirtualMachine") {
		out = append(out, e.(*simulator.VirtualMachine))
	}
	return out
}

// everything are the names of all machines, and of what is in datastores.
func (s *sim) everything() (out []string) {
	for _, vm := range s.vms() {
		out = append(out, "vm "+vm.Self.Value)
	}
	for _, e := range s.model.Map().All("Datastore") {
		d := e.(*simulator.Datastore)
		files, _ := filepath.Glob(filepath.Join(d.Info.GetDatastoreInfo().Url, "*", "*.vmdk"))
		for _, f := range files {
			out = append(out, "disk "+filepath.Base(filepath.Dir(f))+"/"+filepath.Base(f))
		}
	}
	return out
}

func (s *sim) left() []string {
	return slices.DeleteFunc(s.everything(), func(name string) bool { return slices.Contains(s.initial, name) })
}

func (s *sim) control(w http.ResponseWriter, r *http.Request) {
	var o orders
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.orders = o
	simulator.TaskDelay.MethodDelay = map[string]int{"LockHandoff": 0}
	for k, v := range o.Delay {
		simulator.TaskDelay.MethodDelay[k] = v
	}
	if o.Expire {
		for _, session := range s.sessions() {
			s.ended[session] = true
		}
	}
	s.mu.Unlock()
	s.change(o.World)
	if o.Reset {
		s.reset(r.Context())
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"left": s.left(), "sessions": len(s.sessions())})
}

// change has something be otherwise in vCenter; anything else is as it was.
func (s *sim) change(what string) {
	m := s.model.Map()
	for _, e := range m.All("ClusterComputeResource") {
		c := e.(*simulator.ClusterComputeResource)
		n := int32(len(c.Host))
		if what == "maintenance" {
			n = 0
		}
		if c.Configuration.DrsConfig.Enabled == nil {
			c.Configuration.DrsConfig.Enabled = new(bool)
		}
		*c.Configuration.DrsConfig.Enabled = what != "no DRS"
		c.Summary.(*types.ClusterComputeResourceSummary).NumEffectiveHosts = n
	}
	for _, e := range m.All("Datastore") {
		d := e.(*simulator.Datastore)
		d.Summary.MaintenanceMode, d.Summary.FreeSpace = "normal", d.Summary.Capacity/2
		switch what {
		case "datastore":
			d.Summary.MaintenanceMode = "inMaintenance"
		case "full":
			d.Summary.FreeSpace = 1 << 20
		}
	}
	for _, vm := range s.vms() {
		if vm.Name == "debian-12" {
			vm.Config.Template = what != "template"
			vm.Summary.Storage.Committed = 3 << 30
		}
		gone := what == "blind" && strings.Contains(vm.Name, "blind")
		if saved, is := s.blind[vm.Self]; is && !gone {
			vm.Config = saved
			delete(s.blind, vm.Self)
		} else if gone && !is {
			s.blind[vm.Self], vm.Config = vm.Config, nil
		}
	}
}

// sessions are those that aren't ended.
func (s *sim) sessions() (out []string) {
	var m mo.SessionManager
	res, err := methods.RetrievePropertiesEx(context.Background(), s.client, &types.RetrievePropertiesEx{This: s.client.ServiceContent.PropertyCollector,
		SpecSet: []types.PropertyFilterSpec{{ObjectSet: []types.ObjectSpec{{Obj: *s.client.ServiceContent.SessionManager}},
			PropSet: []types.PropertySpec{{Type: "SessionManager", PathSet: []string{"sessionList"}}}}}})
	if err != nil || len(res.Returnval.Objects) == 0 {
		return nil
	}
	_ = mo.LoadObjectContent(res.Returnval.Objects, &m)
	for _, each := range m.SessionList {
		if !s.ended[each.Key] {
			out = append(out, each.Key)
		}
	}
	return out
}

func (s *sim) reset(ctx context.Context) {
	for _, vm := range s.vms() {
		if slices.Contains(s.initial, "vm "+vm.Self.Value) {
			continue
		}
		o := vim.NewVirtualMachine(s.client, vm.Self)
		if task, err := o.PowerOff(ctx); err == nil {
			_ = task.Wait(ctx)
		}
		if task, err := o.Destroy(ctx); err == nil {
			_ = task.Wait(ctx)
		}
	}
}

// needs are the privileges of calls, on what they are called.
var needs = map[string]string{
	"CloneVM_Task": "VirtualMachine.Provisioning.DeployTemplate",
	"Destroy_Task": "VirtualMachine.Inventory.Delete", "PowerOnVM_Task": "VirtualMachine.Interact.PowerOn",
	"PowerOffVM_Task": "VirtualMachine.Interact.PowerOff",
	"ShutdownGuest":   "VirtualMachine.Interact.PowerOff", "ReconfigVM_Task": "VirtualMachine.Config.AdvancedConfig",
	"CreateFolder": "Folder.Create",
}

// before is where vcsim asks what to do with a call. vcsim lets anyone read, takes any name and any configuration of a clone, and knows no privileges; vCenter
// doesn't.
func (s *sim) before(ctx *simulator.Context, m *simulator.Method) (mo.Reference, types.BaseMethodFault) {
	if ctx.Session != nil && ctx.Session.UserName == "" {
		return nil, nil // the simulator itself
	}
	s.mu.Lock()
	o, over := s.orders, ctx.Session == nil || s.ended[ctx.Session.Key]
	s.mu.Unlock()
	if over && m.Name != "Login" && m.Name != "RetrieveServiceContent" {
		return nil, &types.NotAuthenticated{NoPermission: types.NoPermission{Object: &m.This, PrivilegeId: "System.View"}}
	}
	if privilege := needs[m.Name]; privilege != "" && slices.Contains(o.Lacks, privilege) {
		return nil, &types.NoPermission{Object: &m.This, PrivilegeId: privilege}
	}
	if name, ok := o.Faults[m.Name]; ok {
		return nil, simFaults[name]
	}
	switch r := m.Body.(type) {
	case *types.CloneVM_Task:
		if s.model.Map().Get(r.Folder) == nil {
			return nil, &types.ManagedObjectNotFound{Obj: r.Folder}
		}
		if o.World == "no DRS" && r.Spec.Location.Host == nil {
			return nil, &types.InvalidArgument{InvalidProperty: "spec.location.host"}
		}
		if fault := strict(r, o.Lacks); fault != nil {
			return nil, fault
		}
	case *types.RetrievePropertiesEx:
		if o.Keys && strings.Contains(fmt.Sprintf("%+v", r.SpecSet), `["`) {
			return nil, &types.InvalidProperty{Name: "config.extraConfig"}
		}
	}
	if ctx.Session == nil {
		return nil, nil
	}
	s.mu.Lock()
	for _, self := range s.spoiled {
		ctx.Session.Registry.Remove(ctx, self)
	}
	s.spoiled = nil
	s.mu.Unlock()
	if name, ok := o.Tasks[m.Name]; ok {
		vm := simulator.VirtualMachine{}
		if real, is := s.model.Map().Get(m.This).(*simulator.VirtualMachine); is {
			ctx.Session.Registry.Put(&failing{&vm, real.Self, simFaults[name]})
			s.mu.Lock()
			s.spoiled = append(s.spoiled, real.Self)
			s.mu.Unlock()
		}
	}
	if _, is := ctx.Session.Registry.Get(m.This).(*judge); m.This.Type == "AuthorizationManager" && !is {
		ctx.Session.Registry.Put(&judge{self: m.This, s: s})
	}
	return nil, nil
}

// strict is what vCenter refuses of a clone, and vcsim doesn't.
func strict(r *types.CloneVM_Task, lacks []string) types.BaseMethodFault {
	c := r.Spec.Config
	switch {
	case len(r.Name) > 80 || r.Name == "" || strings.ContainsAny(r.Name, `/\`):
		return &types.InvalidName{Name: r.Name}
	case r.Spec.Location.Pool == nil:
		return &types.InvalidArgument{InvalidProperty: "spec.location.pool"}
	case c == nil || c.InstanceUuid == "" || len(c.InstanceUuid) != 36:
		return &types.InvalidArgument{InvalidProperty: "spec.config.instanceUuid"}
	case c.MemoryMB%4 != 0 || c.NumCPUs < 1:
		return &types.InvalidArgument{InvalidProperty: "spec.config.memoryMB"}
	case c.NumCoresPerSocket != nil && c.NumCPUs%*c.NumCoresPerSocket != 0:
		return &types.InvalidArgument{InvalidProperty: "spec.config.numCoresPerSocket"}
	}
	for _, p := range []string{"Resource.AssignVMToPool", "VirtualMachine.Inventory.CreateFromExisting", "Datastore.AllocateSpace", "Network.Assign"} {
		if slices.Contains(lacks, p) {
			return &types.NoPermission{Object: &r.Folder, PrivilegeId: p}
		}
	}
	for _, o := range c.ExtraConfig {
		if v := o.GetOptionValue(); v.Key == "" || v.Value == nil {
			return &types.InvalidArgument{InvalidProperty: "spec.config.extraConfig"}
		}
	}
	return nil
}

var simFaults = map[string]types.BaseMethodFault{
	"NoPermission":           &types.NoPermission{PrivilegeId: "VirtualMachine.Interact.PowerOn"},
	"InsufficientMemory":     &types.InsufficientMemoryResourcesFault{},
	"NoDiskSpace":            &types.NoDiskSpace{Datastore: "LocalDS_0"},
	"NoCompatibleHost":       &types.NoCompatibleHost{},
	"NotEnoughLicenses":      &types.NotEnoughLicenses{},
	"TaskInProgress":         &types.TaskInProgress{},
	"ConcurrentAccess":       &types.ConcurrentAccess{},
	"HostNotConnected":       &types.HostNotConnected{},
	"InvalidState":           &types.InvalidState{},
	"InvalidVmConfig":        &types.InvalidVmConfig{Property: "memoryMB"},
	"ToolsUnavailable":       &types.ToolsUnavailable{},
	"SystemError":            &types.SystemError{Reason: "broken"},
	"DuplicateNameElsewhere": &types.DuplicateName{Name: "x", Object: types.ManagedObjectReference{Type: "VirtualMachine", Value: "vm-999999"}},
}

// failing is a virtual machine whose tasks end in a fault.
type failing struct {
	*simulator.VirtualMachine
	self  types.ManagedObjectReference
	fault types.BaseMethodFault
}

func (f *failing) Reference() types.ManagedObjectReference { return f.self }

func (f *failing) task(ctx *simulator.Context, name string) types.ManagedObjectReference {
	return simulator.CreateTask(f, name, func(*simulator.Task) (types.AnyType, types.BaseMethodFault) { return nil, f.fault }).Run(ctx)
}

func (f *failing) CloneVMTask(ctx *simulator.Context, _ *types.CloneVM_Task) soap.HasFault {
	return &methods.CloneVM_TaskBody{Res: &types.CloneVM_TaskResponse{Returnval: f.task(ctx, "cloneVm")}}
}

func (f *failing) PowerOnVMTask(ctx *simulator.Context, _ *types.PowerOnVM_Task) soap.HasFault {
	return &methods.PowerOnVM_TaskBody{Res: &types.PowerOnVM_TaskResponse{Returnval: f.task(ctx, "powerOn")}}
}

func (f *failing) DestroyTask(ctx *simulator.Context, _ *types.Destroy_Task) soap.HasFault {
	return &methods.Destroy_TaskBody{Res: &types.Destroy_TaskResponse{Returnval: f.task(ctx, "destroy")}}
}

// judge is the part of vCenter that knows who has which privilege.
type judge struct {
	self types.ManagedObjectReference
	s    *sim
}

func (j *judge) Reference() types.ManagedObjectReference { return j.self }

func (j *judge) HasPrivilegeOnEntities(ctx *simulator.Context, r *types.HasPrivilegeOnEntities) soap.HasFault {
	j.s.mu.Lock()
	defer j.s.mu.Unlock()
	body := &methods.HasPrivilegeOnEntitiesBody{Res: &types.HasPrivilegeOnEntitiesResponse{}}
	if r.SessionId != ctx.Session.Key {
		return &methods.HasPrivilegeOnEntitiesBody{Fault_: simulator.Fault("", &types.InvalidArgument{InvalidProperty: "sessionId"})}
	}
	for _, e := range r.Entity {
		p := types.EntityPrivilege{Entity: e}
		for _, id := range r.PrivId {
			p.PrivAvailability = append(p.PrivAvailability, types.PrivilegeAvailability{PrivId: id, IsGranted: !slices.Contains(j.s.orders.Lacks, id)})
		}
		body.Res.Returnval = append(body.Res.Returnval, p)
	}
	return body
}

// guests are the systems of machines that run: VMware Tools report an address, and none when they are off.
type guests struct{}

func (guests) Reference() types.ManagedObjectReference {
	return types.ManagedObjectReference{Type: "Guests", Value: "guests"}
}
func (guests) PutObject(*simulator.Context, mo.Reference)                    {}
func (guests) RemoveObject(*simulator.Context, types.ManagedObjectReference) {}
func (guests) UpdateObject(ctx *simulator.Context, o mo.Reference, c []types.PropertyChange) {
	for _, change := range c {
		state, ok := change.Val.(types.VirtualMachinePowerState)
		if !ok || change.Name != "runtime.powerState" {
			continue
		}
		vm, ok := ctx.Map.Get(o.Reference()).(*simulator.VirtualMachine)
		if !ok {
			continue
		}
		var n int
		_, _ = fmt.Sscanf(vm.Self.Value, "vm-%d", &n)
		ip := ""
		if state == types.VirtualMachinePowerStatePoweredOn {
			ip = fmt.Sprintf("10.1.%d.%d", n/250%250, n%250+1)
		}
		nets := slices.Clone(vm.Guest.Net)
		for i := range nets {
			nets[i].IpAddress = nil
			if ip != "" && i == 0 {
				nets[i].IpAddress = []string{"fe80::250:56ff:fe00:1", ip}
			}
		}
		nets = append(slices.DeleteFunc(nets, func(n types.GuestNicInfo) bool { return n.DeviceConfigId < 0 }),
			types.GuestNicInfo{Network: "", IpAddress: []string{"172.17.0.1"}, DeviceConfigId: -1}) // a container engine's bridge
		ctx.Map.Update(ctx, vm, []types.PropertyChange{{Name: "guest.ipAddress", Val: ip}, {Name: "guest.net", Val: nets}})
	}
}
