package azure

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"
	networkfake "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7/fake"
)

func subResource(id string) *armnetwork.SubResource { return &armnetwork.SubResource{ID: &id} }

const simSubnet = "/subscriptions/" + simSubscription + "/resourceGroups/" + simGroup + "/providers/Microsoft.Network/virtualNetworks/vnet/subnets/default"

var (
	updating  = armnetwork.ProvisioningStateUpdating
	succeeded = armnetwork.ProvisioningStateSucceeded
)

func (s *sim) network() *networkfake.ServerFactory {
	f := &networkfake.ServerFactory{}
	s.cardServer(&f.InterfacesServer)
	s.addressServer(&f.PublicIPAddressesServer)
	s.wallServer(&f.SecurityGroupsServer)
	s.memberServer(&f.ApplicationSecurityGroupsServer)
	f.UsagesServer.NewListPager = func(string, *armnetwork.UsagesClientListOptions) azfake.PagerResponder[armnetwork.UsagesClientListResponse] {
		var out armnetwork.UsagesClientListResponse
		for _, name := range []string{"StandardSkuPublicIpAddresses", "NetworkInterfaces"} {
			out.Value = append(out.Value, &armnetwork.Usage{CurrentValue: ref(int64(s.usage[name][0])), Limit: ref(int64(s.usage[name][1])), Unit: ref(armnetwork.UsageUnitCount),
				Name: &armnetwork.UsageName{Value: ref(name), LocalizedValue: ref(name)}})
		}
		return paged(out)
	}
	return f
}

// busy refuses a change while another one is in progress.
func (s *sim) busy(ctx context.Context, on string) (azfake.ErrorResponder, bool) {
	if s.pending(on, true) != nil {
		return no(ctx, 429, "AnotherOperationInProgress", "Another operation on this or dependent resource is in progress."), true
	}
	return azfake.ErrorResponder{}, false
}

func (s *sim) address() string { s.nextIP++; return fmt.Sprintf("10.0.0.%d", s.nextIP%250+4) }

func (s *sim) cardServer(f *networkfake.InterfacesServer) {
	f.BeginCreateOrUpdate = func(ctx context.Context, _, name string, c armnetwork.Interface, _ *armnetwork.InterfacesClientBeginCreateOrUpdateOptions) (resp azfake.PollerResponder[armnetwork.InterfacesClientCreateOrUpdateResponse], e azfake.ErrorResponder) {
		if e, busy := s.busy(ctx, "card/"+name); busy {
			return resp, e
		}
		if bad := s.badCard(name, c); bad != nil {
			return resp, no(ctx, bad.status, bad.code, "%s", bad.message)
		}
		before := s.cards.is[strings.ToLower(name)]
		p := *c.Properties
		c.Properties, c.ID, c.Name = &p, ref(s.id(kindCard, name)), ref(name)
		p.VirtualMachine, p.ProvisioningState, p.MacAddress = nil, &updating, ref("00-0D-3A-00-00-01")
		for i, config := range p.IPConfigurations {
			ip := *config.Properties
			if ip.PrivateIPAddress = ref(s.address()); before != nil {
				ip.PrivateIPAddress, p.VirtualMachine = before.Properties.IPConfigurations[i].Properties.PrivateIPAddress, before.Properties.VirtualMachine
			}
			p.IPConfigurations[i] = &armnetwork.InterfaceIPConfiguration{Name: config.Name, ID: ref(*c.ID + "/ipConfigurations/" + *config.Name), Properties: &ip}
			if ip.PublicIPAddress != nil {
				s.ips.is[base(ip.PublicIPAddress.ID)].Properties.IPConfiguration = &armnetwork.IPConfiguration{ID: p.IPConfigurations[i].ID}
			}
		}
		s.cards.put(name, &c)
		s.begin(ctx, "card/"+name, func() *simError {
			p.ProvisioningState = &succeeded
			c.Properties.ProvisioningState = &succeeded
			return nil
		})
		return landed(http.StatusOK, armnetwork.InterfacesClientCreateOrUpdateResponse{Interface: c}), e
	}
	f.Get = func(ctx context.Context, _, name string, o *armnetwork.InterfacesClientGetOptions) (resp azfake.Responder[armnetwork.InterfacesClientGetResponse], e azfake.ErrorResponder) {
		s.pending("card/"+name, true)
		c := s.cards.is[strings.ToLower(name)]
		if c == nil {
			return resp, no(ctx, 404, "ResourceNotFound", "The Resource '%s' was not found.", name)
		}
		return said(armnetwork.InterfacesClientGetResponse{Interface: *s.shownCard(c, o != nil && value(o.Expand) == "ipConfigurations/publicIPAddress")}), e
	}
	f.NewListPager = func(string, *armnetwork.InterfacesClientListOptions) azfake.PagerResponder[armnetwork.InterfacesClientListResponse] {
		var out armnetwork.InterfacesClientListResponse
		for _, c := range s.cards.list(s.lag) {
			out.Value = append(out.Value, s.shownCard(c, false))
		}
		return paged(out)
	}
	f.BeginDelete = func(ctx context.Context, _, name string, _ *armnetwork.InterfacesClientBeginDeleteOptions) (resp azfake.PollerResponder[armnetwork.InterfacesClientDeleteResponse], e azfake.ErrorResponder) {
		switch c := s.cards.is[strings.ToLower(name)]; {
		case c == nil:
			return landed(http.StatusNoContent, armnetwork.InterfacesClientDeleteResponse{}), e
		case c.Properties.VirtualMachine != nil:
			return resp, no(ctx, 400, "NicInUse", "Network Interface %s is used by existing resource %s.", name, *c.Properties.VirtualMachine.ID)
		case s.reserved[strings.ToLower(name)]:
			return resp, no(ctx, 400, "NicReservedForAnotherVm", "Nic(s) in request is reserved for another Virtual Machine for 180 seconds.")
		}
		if e, busy := s.busy(ctx, "card/"+name); busy {
			return resp, e
		}
		s.begin(ctx, "card/"+name, func() *simError { s.dropCard(name, false); return nil })
		return landed(http.StatusOK, armnetwork.InterfacesClientDeleteResponse{}), e
	}
}

// shownCard is an interface as it is answered: of its public address, only the ID and what goes with it, unless more is asked for.
func (s *sim) shownCard(c *armnetwork.Interface, expand bool) *armnetwork.Interface {
	var out armnetwork.Interface
	b, _ := json.Marshal(c)
	_ = json.Unmarshal(b, &out)
	for _, config := range out.Properties.IPConfigurations {
		if a := config.Properties.PublicIPAddress; a != nil && expand {
			full := *s.ips.is[base(a.ID)]
			config.Properties.PublicIPAddress = &full
		}
	}
	return &out
}

// dropCard removes an interface. With its machine, its public address goes as it says.
func (s *sim) dropCard(name string, along bool) {
	c := s.cards.is[strings.ToLower(name)]
	if c == nil {
		return
	}
	s.cards.drop(name)
	for _, config := range c.Properties.IPConfigurations {
		a := config.Properties.PublicIPAddress
		if a == nil || s.ips.is[base(a.ID)] == nil {
			continue
		}
		s.ips.is[base(a.ID)].Properties.IPConfiguration = nil
		if along && a.Properties != nil && value(a.Properties.DeleteOption) == armnetwork.DeleteOptionsDelete {
			s.ips.drop(base(a.ID))
		}
	}
}

func (s *sim) badCard(name string, c armnetwork.Interface) *simError {
	missing := func(id *string) *simError {
		return &simError{400, "InvalidResourceReference", "Resource " + value(id) + " referenced by resource " + name + " was not found."}
	}
	if value(c.Location) != simLocation || c.Properties == nil || len(c.Properties.IPConfigurations) != 1 {
		return &simError{400, "InvalidRequestFormat", "bad interface"}
	}
	if w := c.Properties.NetworkSecurityGroup; w != nil && (s.walls.is[base(w.ID)] == nil || s.id(kindWall, base(w.ID)) != *w.ID) {
		return missing(w.ID)
	}
	for _, config := range c.Properties.IPConfigurations {
		p := config.Properties
		if value(config.Name) == "" || p.Subnet == nil || !strings.HasPrefix(simSubnet+" ", value(p.Subnet.ID)+" ") || !s.hasSubnet() {
			return missing(p.Subnet.ID)
		}
		for _, m := range p.ApplicationSecurityGroups {
			if s.members.is[base(m.ID)] == nil || s.id(kindMembers, base(m.ID)) != *m.ID {
				return missing(m.ID)
			}
		}
		if a := p.PublicIPAddress; a != nil {
			ip := s.ips.is[base(a.ID)]
			switch {
			case ip == nil || s.id(kindAddress, base(a.ID)) != *a.ID:
				return missing(a.ID)
			case value(ip.Properties.ProvisioningState) != succeeded:
				return &simError{429, "ReferencedResourceNotProvisioned", "The address isn't ready."}
			case ip.Properties.IPConfiguration != nil && !strings.Contains(*ip.Properties.IPConfiguration.ID, "/"+name+"/"):
				return &simError{400, "PublicIPAddressInUse", "The address is used by another interface."}
			}
		}
	}
	return nil
}

func (s *sim) hasSubnet() bool { _, ok := s.subnets["vnet/default"]; return ok }

func (s *sim) addressServer(f *networkfake.PublicIPAddressesServer) {
	f.BeginCreateOrUpdate = func(ctx context.Context, _, name string, a armnetwork.PublicIPAddress, _ *armnetwork.PublicIPAddressesClientBeginCreateOrUpdateOptions) (resp azfake.PollerResponder[armnetwork.PublicIPAddressesClientCreateOrUpdateResponse], e azfake.ErrorResponder) {
		if e, busy := s.busy(ctx, "ip/"+name); busy {
			return resp, e
		}
		if value(a.Location) != simLocation || value(a.SKU.Name) != armnetwork.PublicIPAddressSKUNameStandard ||
			value(a.Properties.PublicIPAllocationMethod) != armnetwork.IPAllocationMethodStatic {
			return resp, no(ctx, 400, "PublicIPAddressSkuRequiresStaticAllocation", "Standard sku publicIp must have AllocationMethod set to Static.")
		}
		if s.usage["StandardSkuPublicIpAddresses"][1] <= len(s.ips.is) {
			return resp, no(ctx, 400, "PublicIPCountLimitReached", "Cannot create more than %d public IP addresses for this subscription in this region.", s.usage["StandardSkuPublicIpAddresses"][1])
		}
		p := *a.Properties
		a.Properties, a.ID, a.Name = &p, ref(s.id(kindAddress, name)), ref(name)
		p.ProvisioningState = &updating
		s.nextIP++
		at := fmt.Sprintf("203.0.113.%d", s.nextIP%250+1)
		s.ips.put(name, &a)
		s.begin(ctx, "ip/"+name, func() *simError { p.ProvisioningState, p.IPAddress = &succeeded, &at; return nil })
		return landed(http.StatusOK, armnetwork.PublicIPAddressesClientCreateOrUpdateResponse{PublicIPAddress: a}), e
	}
	f.Get = func(ctx context.Context, _, name string, _ *armnetwork.PublicIPAddressesClientGetOptions) (resp azfake.Responder[armnetwork.PublicIPAddressesClientGetResponse], e azfake.ErrorResponder) {
		s.pending("ip/"+name, true)
		a := s.ips.is[strings.ToLower(name)]
		if a == nil {
			return resp, no(ctx, 404, "ResourceNotFound", "The Resource '%s' was not found.", name)
		}
		return said(armnetwork.PublicIPAddressesClientGetResponse{PublicIPAddress: *a}), e
	}
	f.NewListPager = func(string, *armnetwork.PublicIPAddressesClientListOptions) azfake.PagerResponder[armnetwork.PublicIPAddressesClientListResponse] {
		var out armnetwork.PublicIPAddressesClientListResponse
		out.Value = s.ips.list(s.lag)
		return paged(out)
	}
	f.UpdateTags = func(ctx context.Context, _, name string, tags armnetwork.TagsObject, _ *armnetwork.PublicIPAddressesClientUpdateTagsOptions) (resp azfake.Responder[armnetwork.PublicIPAddressesClientUpdateTagsResponse], e azfake.ErrorResponder) {
		a := s.ips.is[strings.ToLower(name)]
		if a == nil {
			return resp, no(ctx, 404, "ResourceNotFound", "The Resource '%s' was not found.", name)
		}
		a.Tags = tags.Tags
		return said(armnetwork.PublicIPAddressesClientUpdateTagsResponse{PublicIPAddress: *a}), e
	}
	f.BeginDelete = func(ctx context.Context, _, name string, _ *armnetwork.PublicIPAddressesClientBeginDeleteOptions) (resp azfake.PollerResponder[armnetwork.PublicIPAddressesClientDeleteResponse], e azfake.ErrorResponder) {
		switch a := s.ips.is[strings.ToLower(name)]; {
		case a == nil:
			return landed(http.StatusNoContent, armnetwork.PublicIPAddressesClientDeleteResponse{}), e
		case a.Properties.IPConfiguration != nil:
			return resp, no(ctx, 400, "PublicIPAddressCannotBeDeleted", "Public IP address %s can not be deleted since it is still allocated to resource %s.", name, *a.Properties.IPConfiguration.ID)
		}
		if e, busy := s.busy(ctx, "ip/"+name); busy {
			return resp, e
		}
		s.begin(ctx, "ip/"+name, func() *simError { s.ips.drop(name); return nil })
		return landed(http.StatusOK, armnetwork.PublicIPAddressesClientDeleteResponse{}), e
	}
}

func (s *sim) wallServer(f *networkfake.SecurityGroupsServer) {
	f.BeginCreateOrUpdate = func(ctx context.Context, _, name string, w armnetwork.SecurityGroup, _ *armnetwork.SecurityGroupsClientBeginCreateOrUpdateOptions) (resp azfake.PollerResponder[armnetwork.SecurityGroupsClientCreateOrUpdateResponse], e azfake.ErrorResponder) {
		if e, busy := s.busy(ctx, "wall/"+name); busy {
			return resp, e
		}
		if bad := s.badRules(w); bad != "" {
			return resp, no(ctx, 400, "SecurityRuleInvalid", "%s", bad)
		}
		p := *w.Properties
		w.Properties, w.ID, w.Name = &p, ref(s.id(kindWall, name)), ref(name)
		p.ProvisioningState = &updating
		s.walls.put(name, &w)
		s.begin(ctx, "wall/"+name, func() *simError { p.ProvisioningState = &succeeded; return nil })
		return landed(http.StatusOK, armnetwork.SecurityGroupsClientCreateOrUpdateResponse{SecurityGroup: w}), e
	}
	f.Get = func(ctx context.Context, _, name string, _ *armnetwork.SecurityGroupsClientGetOptions) (resp azfake.Responder[armnetwork.SecurityGroupsClientGetResponse], e azfake.ErrorResponder) {
		s.pending("wall/"+name, true)
		w := s.walls.is[strings.ToLower(name)]
		if w == nil {
			return resp, no(ctx, 404, "ResourceNotFound", "The Resource '%s' was not found.", name)
		}
		return said(armnetwork.SecurityGroupsClientGetResponse{SecurityGroup: *w}), e
	}
	f.NewListPager = func(string, *armnetwork.SecurityGroupsClientListOptions) azfake.PagerResponder[armnetwork.SecurityGroupsClientListResponse] {
		out := armnetwork.SecurityGroupsClientListResponse{}
		out.Value = append(s.walls.list(0), &armnetwork.SecurityGroup{Name: ref("someone-elses"), Location: ref(simLocation)})
		return paged(out)
	}
	f.BeginDelete = func(ctx context.Context, _, name string, _ *armnetwork.SecurityGroupsClientBeginDeleteOptions) (resp azfake.PollerResponder[armnetwork.SecurityGroupsClientDeleteResponse], e azfake.ErrorResponder) {
		if s.walls.is[strings.ToLower(name)] == nil {
			return landed(http.StatusNoContent, armnetwork.SecurityGroupsClientDeleteResponse{}), e
		}
		for _, c := range s.cards.is {
			if w := c.Properties.NetworkSecurityGroup; w != nil && base(w.ID) == strings.ToLower(name) {
				return resp, no(ctx, 400, "InUseNetworkSecurityGroupCannotBeDeleted", "Network security group %s cannot be deleted because it is in use by %s.", name, *c.ID)
			}
		}
		if e, busy := s.busy(ctx, "wall/"+name); busy {
			return resp, e
		}
		s.begin(ctx, "wall/"+name, func() *simError { s.walls.drop(name); return nil })
		return landed(http.StatusOK, armnetwork.SecurityGroupsClientDeleteResponse{}), e
	}
}

// badRules returns what is wrong with a security group's rules.
func (s *sim) badRules(w armnetwork.SecurityGroup) string {
	names, priorities := map[string]bool{}, map[int32]bool{}
	for _, r := range w.Properties.SecurityRules {
		p := r.Properties
		sources := 0
		if p.SourceAddressPrefix != nil {
			sources++
		}
		if len(p.SourceAddressPrefixes) > 0 {
			sources++
		}
		if len(p.SourceApplicationSecurityGroups) > 0 {
			sources++
		}
		destination := p.DestinationAddressPrefix != nil != (len(p.DestinationApplicationSecurityGroups) > 0)
		n := value(p.Priority)
		switch {
		case names[value(r.Name)] || value(r.Name) == "" || len(*r.Name) > 80:
			return "bad or repeated name " + value(r.Name)
		case priorities[n] || n < 100 || n > 4096:
			return fmt.Sprintf("bad or repeated priority %d", n)
		case sources != 1 || !destination || p.SourcePortRange == nil || p.DestinationPortRange == nil || *p.DestinationPortRange == "" || p.Access == nil || p.Direction == nil:
			return "rule " + *r.Name + " must have one source, one destination, ports, access and direction"
		case !slices.Contains(armnetwork.PossibleSecurityRuleProtocolValues(), value(p.Protocol)):
			return "bad protocol " + string(value(p.Protocol))
		}
		for _, x := range p.SourceAddressPrefixes {
			if prefix, err := netip.ParsePrefix(*x); err != nil || prefix != prefix.Masked() {
				return "bad prefix " + *x
			}
		}
		for _, m := range append(p.SourceApplicationSecurityGroups, p.DestinationApplicationSecurityGroups...) {
			if s.members.is[base(m.ID)] == nil {
				return "no application security group " + *m.ID
			}
		}
		names[*r.Name], priorities[n] = true, true
	}
	return ""
}

func (s *sim) memberServer(f *networkfake.ApplicationSecurityGroupsServer) {
	f.BeginCreateOrUpdate = func(ctx context.Context, _, name string, m armnetwork.ApplicationSecurityGroup, _ *armnetwork.ApplicationSecurityGroupsClientBeginCreateOrUpdateOptions) (resp azfake.PollerResponder[armnetwork.ApplicationSecurityGroupsClientCreateOrUpdateResponse], e azfake.ErrorResponder) {
		if e, busy := s.busy(ctx, "members/"+name); busy {
			return resp, e
		}
		m.ID, m.Name = ref(s.id(kindMembers, name)), ref(name)
		m.Properties = &armnetwork.ApplicationSecurityGroupPropertiesFormat{ProvisioningState: &succeeded}
		s.members.put(name, &m)
		s.begin(ctx, "members/"+name, func() *simError { return nil })
		return landed(http.StatusOK, armnetwork.ApplicationSecurityGroupsClientCreateOrUpdateResponse{ApplicationSecurityGroup: m}), e
	}
	f.Get = func(ctx context.Context, _, name string, _ *armnetwork.ApplicationSecurityGroupsClientGetOptions) (resp azfake.Responder[armnetwork.ApplicationSecurityGroupsClientGetResponse], e azfake.ErrorResponder) {
		s.pending("members/"+name, true)
		m := s.members.is[strings.ToLower(name)]
		if m == nil {
			return resp, no(ctx, 404, "ResourceNotFound", "The Resource '%s' was not found.", name)
		}
		return said(armnetwork.ApplicationSecurityGroupsClientGetResponse{ApplicationSecurityGroup: *m}), e
	}
	f.NewListPager = func(string, *armnetwork.ApplicationSecurityGroupsClientListOptions) azfake.PagerResponder[armnetwork.ApplicationSecurityGroupsClientListResponse] {
		var out armnetwork.ApplicationSecurityGroupsClientListResponse
		out.Value = s.members.list(0)
		return paged(out)
	}
	f.BeginDelete = func(ctx context.Context, _, name string, _ *armnetwork.ApplicationSecurityGroupsClientBeginDeleteOptions) (resp azfake.PollerResponder[armnetwork.ApplicationSecurityGroupsClientDeleteResponse], e azfake.ErrorResponder) {
		if s.members.is[strings.ToLower(name)] == nil {
			return landed(http.StatusNoContent, armnetwork.ApplicationSecurityGroupsClientDeleteResponse{}), e
		}
		for _, w := range s.walls.is {
			for _, r := range w.Properties.SecurityRules {
				for _, m := range r.Properties.SourceApplicationSecurityGroups {
					if base(m.ID) == strings.ToLower(name) {
						return resp, no(ctx, 400, "ApplicationSecurityGroupInUse", "Application security group %s is used by %s.", name, *w.ID)
					}
				}
			}
		}
		for _, c := range s.cards.is {
			for _, config := range c.Properties.IPConfigurations {
				for _, m := range config.Properties.ApplicationSecurityGroups {
					if base(m.ID) == strings.ToLower(name) {
						return resp, no(ctx, 400, "ApplicationSecurityGroupInUse", "Application security group %s is used by %s.", name, *c.ID)
					}
				}
			}
		}
		if e, busy := s.busy(ctx, "members/"+name); busy {
			return resp, e
		}
		s.begin(ctx, "members/"+name, func() *simError { s.members.drop(name); return nil })
		return landed(http.StatusOK, armnetwork.ApplicationSecurityGroupsClientDeleteResponse{}), e
	}
}
