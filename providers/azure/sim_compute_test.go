package azure

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	computefake "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7/fake"
)

func (s *sim) id(kind, name string) string {
	return "/subscriptions/" + simSubscription + "/resourceGroups/" + s.group + "/providers/" + kind + "/" + name
}

func (s *sim) compute() *computefake.ServerFactory {
	f := &computefake.ServerFactory{}
	v := &f.VirtualMachinesServer
	v.BeginCreateOrUpdate = s.createVM
	v.Get = func(ctx context.Context, _, name string, o *armcompute.VirtualMachinesClientGetOptions) (resp azfake.Responder[armcompute.VirtualMachinesClientGetResponse], e azfake.ErrorResponder) {
		s.pending("vm/"+name, true)
		vm := s.vms.is[strings.ToLower(name)]
		if vm == nil {
			return resp, no(ctx, 404, "ResourceNotFound", "The Resource 'Microsoft.Compute/virtualMachines/%s' under resource group '%s' was not found.", name, s.group)
		}
		return said(armcompute.VirtualMachinesClientGetResponse{VirtualMachine: *shown(vm, o != nil && value(o.Expand) == armcompute.InstanceViewTypesInstanceView)}), e
	}
	v.NewListPager = func(string, *armcompute.VirtualMachinesClientListOptions) azfake.PagerResponder[armcompute.VirtualMachinesClientListResponse] {
		var out armcompute.VirtualMachinesClientListResponse
		for _, vm := range s.vms.list(s.lag) {
			out.Value = append(out.Value, shown(vm, false))
		}
		return paged(out)
	}
	v.NewListAllPager = func(o *armcompute.VirtualMachinesClientListAllOptions) azfake.PagerResponder[armcompute.VirtualMachinesClientListAllResponse] {
		out := armcompute.VirtualMachinesClientListAllResponse{}
		out.Value = append(out.Value, &armcompute.VirtualMachine{ID: ref("/subscriptions/" + simSubscription + "/resourceGroups/other/providers/Microsoft.Compute/virtualMachines/x"),
			Location: ref(simLocation), Properties: &armcompute.VirtualMachineProperties{InstanceView: &armcompute.VirtualMachineInstanceView{}}})
		for _, vm := range s.vms.list(s.lag) {
			out.Value = append(out.Value, shown(vm, o != nil && value(o.StatusOnly) == "true"))
		}
		return paged(out)
	}
	v.BeginUpdate = func(ctx context.Context, _, name string, u armcompute.VirtualMachineUpdate, _ *armcompute.VirtualMachinesClientBeginUpdateOptions) (resp azfake.PollerResponder[armcompute.VirtualMachinesClientUpdateResponse], e azfake.ErrorResponder) {
		vm, e, ok := s.busyVM(ctx, name)
		if !ok {
			return resp, e
		}
		vm.Tags = u.Tags
		s.begin(ctx, "vm/"+name, func() *simError { return nil })
		return landed(http.StatusOK, armcompute.VirtualMachinesClientUpdateResponse{VirtualMachine: *shown(vm, false)}), e
	}
	v.BeginDelete = func(ctx context.Context, _, name string, _ *armcompute.VirtualMachinesClientBeginDeleteOptions) (resp azfake.PollerResponder[armcompute.VirtualMachinesClientDeleteResponse], e azfake.ErrorResponder) {
		vm := s.vms.is[strings.ToLower(name)]
		if vm == nil {
			return landed(http.StatusNoContent, armcompute.VirtualMachinesClientDeleteResponse{}), e
		}
		for _, op := range s.ops { // a delete takes over from what is being done
			if op.on == strings.ToLower("vm/"+name) {
				op.left, op.err = 0, &simError{409, "OperationPreempted", "Operation execution has been preempted by a more recent operation."}
			}
		}
		vm.Properties.ProvisioningState = ref("Deleting")
		s.begin(ctx, "vm/"+name, func() *simError { s.vanish(name); return nil })
		return landed(http.StatusOK, armcompute.VirtualMachinesClientDeleteResponse{}), e
	}
	v.BeginDeallocate = func(ctx context.Context, _, name string, _ *armcompute.VirtualMachinesClientBeginDeallocateOptions) (resp azfake.PollerResponder[armcompute.VirtualMachinesClientDeallocateResponse], e azfake.ErrorResponder) {
		vm, e, ok := s.busyVM(ctx, name)
		if !ok {
			return resp, e
		}
		setState(vm, "Updating", "deallocating")
		s.begin(ctx, "vm/"+name, func() *simError { setState(vm, "Succeeded", "deallocated"); return nil })
		return landed(http.StatusOK, armcompute.VirtualMachinesClientDeallocateResponse{}), e
	}
	v.BeginStart = func(ctx context.Context, _, name string, _ *armcompute.VirtualMachinesClientBeginStartOptions) (resp azfake.PollerResponder[armcompute.VirtualMachinesClientStartResponse], e azfake.ErrorResponder) {
		vm, e, ok := s.busyVM(ctx, name)
		if !ok {
			return resp, e
		}
		setState(vm, "Updating", "starting")
		s.begin(ctx, "vm/"+name, func() *simError {
			if err := s.fails["start"]; err != nil {
				setState(vm, "Failed", "deallocated")
				return err
			}
			setState(vm, "Succeeded", "running")
			return nil
		})
		return landed(http.StatusOK, armcompute.VirtualMachinesClientStartResponse{}), e
	}
	f.DisksServer.BeginDelete = func(ctx context.Context, _, name string, _ *armcompute.DisksClientBeginDeleteOptions) (resp azfake.PollerResponder[armcompute.DisksClientDeleteResponse], e azfake.ErrorResponder) {
		switch d := s.disks.is[strings.ToLower(name)]; {
		case d == nil:
			return landed(http.StatusNoContent, armcompute.DisksClientDeleteResponse{}), e
		case d.ManagedBy != nil:
			return resp, no(ctx, 409, "OperationNotAllowed", "Disk %s is attached to VM %s.", name, *d.ManagedBy)
		}
		s.begin(ctx, "disk/"+name, func() *simError { s.disks.drop(name); return nil })
		return landed(http.StatusOK, armcompute.DisksClientDeleteResponse{}), e
	}
	s.catalog(f)
	return f
}

// catalog has what is read only.
func (s *sim) catalog(f *computefake.ServerFactory) {
	f.ResourceSKUsServer.NewListPager = func(*armcompute.ResourceSKUsClientListOptions) azfake.PagerResponder[armcompute.ResourceSKUsClientListResponse] {
		var out armcompute.ResourceSKUsClientListResponse
		for _, name := range slices.Sorted(keysOf(s.sizes)) {
			out.Value = append(out.Value, s.sizes[name])
		}
		out.Value = append(out.Value, &armcompute.ResourceSKU{Name: ref("Premium_LRS"), ResourceType: ref("disks"), Locations: []*string{ref(simLocation)}})
		return paged(out)
	}
	f.UsageServer.NewListPager = func(string, *armcompute.UsageClientListOptions) azfake.PagerResponder[armcompute.UsageClientListResponse] {
		var out armcompute.UsageClientListResponse
		for _, name := range slices.Sorted(keysOf(s.usage)) {
			if u := s.usage[name]; !strings.HasPrefix(name, "StandardSku") && name != "NetworkInterfaces" {
				out.Value = append(out.Value, &armcompute.Usage{CurrentValue: ref(int32(u[0])), Limit: ref(int64(u[1])), Unit: ref("Count"), //nolint:gosec // small
					Name: &armcompute.UsageName{Value: ref(name), LocalizedValue: ref("Total " + name)}})
			}
		}
		return paged(out)
	}
	image := func(publisher, offer, sku string) bool { return s.images[publisher+"/"+offer+"/"+sku] }
	f.VirtualMachineImagesServer.List = func(ctx context.Context, _, publisher, offer, sku string, _ *armcompute.VirtualMachineImagesClientListOptions) (resp azfake.Responder[armcompute.VirtualMachineImagesClientListResponse], e azfake.ErrorResponder) {
		if !image(publisher, offer, sku) {
			return resp, no(ctx, 404, "NotFound", "Artifact: VMImage was not found.")
		}
		return said(armcompute.VirtualMachineImagesClientListResponse{VirtualMachineImageResourceArray: []*armcompute.VirtualMachineImageResource{{Name: ref("0.20261101.1"), Location: ref(simLocation)}}}), e
	}
	f.VirtualMachineImagesServer.Get = func(ctx context.Context, _, publisher, offer, sku, version string, _ *armcompute.VirtualMachineImagesClientGetOptions) (resp azfake.Responder[armcompute.VirtualMachineImagesClientGetResponse], e azfake.ErrorResponder) {
		if !image(publisher, offer, sku) || version != "0.20261101.1" {
			return resp, no(ctx, 404, "NotFound", "Artifact: VMImage was not found.")
		}
		p := &armcompute.VirtualMachineImageProperties{HyperVGeneration: ref(armcompute.HyperVGenerationTypesV2)}
		if s.images["plan"] {
			p.Plan = &armcompute.PurchasePlan{Name: ref("plan"), Product: ref("p"), Publisher: ref("x")}
		}
		return said(armcompute.VirtualMachineImagesClientGetResponse{VirtualMachineImage: armcompute.VirtualMachineImage{Name: ref(version), Location: ref(simLocation), Properties: p}}), e
	}
	f.ImagesServer.NewListByResourceGroupPager = func(string, *armcompute.ImagesClientListByResourceGroupOptions) azfake.PagerResponder[armcompute.ImagesClientListByResourceGroupResponse] {
		var out armcompute.ImagesClientListByResourceGroupResponse
		out.Value = []*armcompute.Image{{Location: ref(simLocation), Name: ref("mine"), ID: ref(s.id("Microsoft.Compute/images", "mine"))}}
		return paged(out)
	}
}

// busyVM returns a VM to which something can be done now.
func (s *sim) busyVM(ctx context.Context, name string) (*armcompute.VirtualMachine, azfake.ErrorResponder, bool) {
	vm := s.vms.is[strings.ToLower(name)]
	if vm == nil {
		return nil, no(ctx, 404, "ResourceNotFound", "The Resource 'Microsoft.Compute/virtualMachines/%s' was not found.", name), false
	}
	if s.pending("vm/"+name, false) != nil {
		return nil, no(ctx, 409, "Conflict", "The request failed due to conflict with a concurrent request."), false
	}
	return vm, azfake.ErrorResponder{}, true
}

func setState(vm *armcompute.VirtualMachine, provisioning, power string) {
	vm.Properties.ProvisioningState = &provisioning
	vm.Properties.InstanceView = &armcompute.VirtualMachineInstanceView{Statuses: []*armcompute.InstanceViewStatus{{Code: ref("ProvisioningState/" + strings.ToLower(provisioning))}}}
	if power != "" {
		vm.Properties.InstanceView.Statuses = append(vm.Properties.InstanceView.Statuses, &armcompute.InstanceViewStatus{Code: ref("PowerState/" + power)})
	}
}

// shown is a VM as it is answered: without what is secret, and with its state only where that is asked for.
func shown(vm *armcompute.VirtualMachine, state bool) *armcompute.VirtualMachine {
	out := *vm
	p := *vm.Properties
	if p.OSProfile != nil {
		o := *p.OSProfile
		o.CustomData = nil
		p.OSProfile = &o
	}
	if !state {
		p.InstanceView = nil
	}
	out.Properties = &p
	return &out
}

// vanish removes a VM, and what has to go along with it.
func (s *sim) vanish(name string) {
	name = strings.ToLower(name)
	vm := s.vms.is[name]
	if vm == nil {
		return
	}
	s.vms.drop(name)
	remove := func(disk *string, option *armcompute.DiskDeleteOptionTypes) {
		if d := s.disks.is[strings.ToLower(value(disk))]; d != nil {
			if d.ManagedBy = nil; value(option) == armcompute.DiskDeleteOptionTypesDelete {
				s.disks.drop(*disk)
			}
		}
	}
	sp := vm.Properties.StorageProfile
	remove(sp.OSDisk.Name, sp.OSDisk.DeleteOption)
	for _, d := range sp.DataDisks {
		remove(d.Name, d.DeleteOption)
	}
	for _, n := range vm.Properties.NetworkProfile.NetworkInterfaces {
		card := s.cards.is[base(n.ID)]
		if card == nil {
			continue
		}
		if card.Properties.VirtualMachine = nil; value(n.Properties.DeleteOption) == armcompute.DeleteOptionsDelete {
			s.dropCard(base(n.ID), true)
		}
	}
}

var (
	vmName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}[A-Za-z0-9_]$`)
	hostForm  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,63}$`)
	adminForm = regexp.MustCompile(`^[a-z_][a-z0-9_-]{0,31}$`)
)

// createVM refuses what Azure does, and begins to make the machine. That there's no room is reported later.
func (s *sim) createVM(ctx context.Context, _, name string, vm armcompute.VirtualMachine, o *armcompute.VirtualMachinesClientBeginCreateOrUpdateOptions) (resp azfake.PollerResponder[armcompute.VirtualMachinesClientCreateOrUpdateResponse], e azfake.ErrorResponder) {
	if s.vms.is[strings.ToLower(name)] != nil {
		if o == nil || value(o.IfNoneMatch) != "*" {
			s.wrong = append(s.wrong, "an existing machine would have been changed")
		}
		return resp, no(ctx, 412, "PreconditionFailed", "The precondition If-None-Match: * was not met.")
	}
	spot := value(vm.Properties.Priority) == armcompute.VirtualMachinePriorityTypesSpot
	if err := s.refuse["PUT virtualMachines"]; err != nil && (!s.spotOnly || spot) {
		s.reserve(vm)
		return resp, no(ctx, err.status, err.code, "%s", err.message)
	}
	if err := s.badVM(name, vm); err != nil {
		return resp, no(ctx, err.status, err.code, "%s", err.message)
	}
	s.last = vm
	made := vm
	p := *vm.Properties
	made.Properties = &p
	made.ID, made.Name, made.Type = ref(s.id("Microsoft.Compute/virtualMachines", name)), ref(name), ref("Microsoft.Compute/virtualMachines")
	p.TimeCreated, p.VMID = ref(time.Now().UTC()), ref("vm")
	setState(&made, "Creating", "")
	s.vms.put(name, &made)
	disk := func(n *string) {
		s.disks.put(*n, &armcompute.Disk{Name: n, ManagedBy: made.ID, Location: ref(simLocation)})
	}
	disk(p.StorageProfile.OSDisk.Name)
	for _, d := range p.StorageProfile.DataDisks {
		disk(d.Name)
	}
	for _, n := range p.NetworkProfile.NetworkInterfaces {
		s.cards.is[base(n.ID)].Properties.VirtualMachine = subResource(*made.ID)
		delete(s.reserved, base(n.ID))
	}
	s.begin(ctx, "vm/"+name, func() *simError {
		if err := s.fails["create"]; err != nil && (!s.spotOnly || spot) {
			setState(&made, "Failed", s.failPower)
			made.Properties.InstanceView.Statuses[0] = &armcompute.InstanceViewStatus{Code: ref("ProvisioningState/failed/" + err.code), Message: ref(err.message)}
			return err
		}
		setState(&made, "Creating", "stopped") // Azure says so for a moment
		s.ops = append(s.ops, &operation{left: 2, on: strings.ToLower("vm/" + name), end: func() *simError { setState(&made, "Succeeded", "running"); return nil }})
		return nil
	})
	return landed(http.StatusOK, armcompute.VirtualMachinesClientCreateOrUpdateResponse{VirtualMachine: *shown(&made, false)}), e
}

// reserve keeps interfaces for a machine that was refused.
func (s *sim) reserve(vm armcompute.VirtualMachine) {
	if _, on := s.reserved["*"]; on {
		for _, n := range vm.Properties.NetworkProfile.NetworkInterfaces {
			s.reserved[base(n.ID)] = true
		}
	}
}

// badVM returns what is wrong with a machine that is asked for.
func (s *sim) badVM(name string, vm armcompute.VirtualMachine) *simError {
	bad := func(code, format string, args ...any) *simError {
		return &simError{400, code, fmt.Sprintf(format, args...)}
	}
	p := vm.Properties
	if value(vm.Location) != simLocation || !vmName.MatchString(name) {
		return bad("InvalidParameter", "bad name or location")
	}
	size := s.sizes[string(value(p.HardwareProfile.VMSize))]
	if size == nil {
		return bad("InvalidParameter", "The value %s provided for the VM size is not valid.", value(p.HardwareProfile.VMSize))
	}
	for _, z := range vm.Zones {
		if !slices.ContainsFunc(size.LocationInfo[0].Zones, func(x *string) bool { return *x == *z }) {
			return bad("InvalidAvailabilityZone", "The zone(s) '%s' for resource is not supported.", *z)
		}
	}
	i := p.StorageProfile.ImageReference
	if !s.images[value(i.Publisher)+"/"+value(i.Offer)+"/"+value(i.SKU)] && value(i.ID) == "" {
		return &simError{404, "PlatformImageNotFound", "The platform image was not found."}
	}
	os := p.OSProfile
	path := "/home/" + value(os.AdminUsername) + "/.ssh/authorized_keys"
	custom, err := base64.StdEncoding.DecodeString(value(os.CustomData))
	switch ssh := os.LinuxConfiguration.SSH.PublicKeys; {
	case !hostForm.MatchString(value(os.ComputerName)):
		return bad("InvalidParameter", "bad computer name %s", value(os.ComputerName))
	case !adminForm.MatchString(value(os.AdminUsername)) || slices.Contains([]string{"root", "admin", "administrator", "user", "test"}, value(os.AdminUsername)):
		return bad("InvalidParameter", "The Admin Username specified is not allowed.")
	case len(ssh) != 1 || value(ssh[0].Path) != path || !strings.HasPrefix(value(ssh[0].KeyData), "ssh-"):
		return bad("InvalidParameter", "Destination path for SSH public keys is currently limited to its default value %s.", path)
	case err != nil || len(custom) > 64<<10 || !strings.HasPrefix(string(custom), "#cloud-config") && !strings.HasPrefix(string(custom), "Content-Type: multipart/"):
		return bad("InvalidParameter", "Custom data in OSProfile must be in Base64 encoding and with a maximum length of 87380 characters.")
	}
	if (p.EvictionPolicy != nil || p.BillingProfile != nil) && value(p.Priority) != armcompute.VirtualMachinePriorityTypesSpot {
		return bad("InvalidParameter", "evictionPolicy and billingProfile require the priority Spot")
	}
	names := []*string{p.StorageProfile.OSDisk.Name}
	for _, d := range p.StorageProfile.DataDisks {
		names = append(names, d.Name)
	}
	for _, n := range names {
		if s.disks.is[strings.ToLower(value(n))] != nil || value(n) == "" {
			return &simError{409, "Conflict", "Disk " + value(n) + " already exists."}
		}
	}
	for _, n := range p.NetworkProfile.NetworkInterfaces {
		card := s.cards.is[base(n.ID)]
		switch {
		case card == nil || !strings.EqualFold(value(card.ID), value(n.ID)):
			return &simError{404, "NotFound", "Interface " + value(n.ID) + " was not found."}
		case card.Properties.VirtualMachine != nil:
			return bad("NicInUse", "Network Interface %s is used by another machine.", value(n.ID))
		case s.pending("card/"+base(n.ID), false) != nil:
			return &simError{409, "ReferencedResourceNotProvisioned", "Cannot proceed with operation: " + value(n.ID) + " is in state Updating."}
		}
	}
	return nil
}
