package azure

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	"muster/app"
	"muster/app/family"
)

// permissions are the actions that the application needs in the resource group. The role in docs/providers/azure.md holds the same.
var permissions = []string{
	"Microsoft.Authorization/permissions/read",
	"Microsoft.Compute/disks/delete", "Microsoft.Compute/disks/read", "Microsoft.Compute/disks/write", "Microsoft.Compute/images/read",
	"Microsoft.Compute/virtualMachines/deallocate/action", "Microsoft.Compute/virtualMachines/delete", "Microsoft.Compute/virtualMachines/read",
	"Microsoft.Compute/virtualMachines/start/action", "Microsoft.Compute/virtualMachines/write",
	"Microsoft.Network/applicationSecurityGroups/delete", "Microsoft.Network/applicationSecurityGroups/joinIpConfiguration/action",
	"Microsoft.Network/applicationSecurityGroups/joinNetworkSecurityRule/action", "Microsoft.Network/applicationSecurityGroups/read",
	"Microsoft.Network/applicationSecurityGroups/write",
	"Microsoft.Network/networkInterfaces/delete", "Microsoft.Network/networkInterfaces/join/action", "Microsoft.Network/networkInterfaces/read",
	"Microsoft.Network/networkInterfaces/write",
	"Microsoft.Network/networkSecurityGroups/delete", "Microsoft.Network/networkSecurityGroups/join/action", "Microsoft.Network/networkSecurityGroups/read",
	"Microsoft.Network/networkSecurityGroups/write",
	"Microsoft.Network/publicIPAddresses/delete", "Microsoft.Network/publicIPAddresses/join/action", "Microsoft.Network/publicIPAddresses/read",
	"Microsoft.Network/publicIPAddresses/write",
	networkPermissions[0], networkPermissions[1],
	"Microsoft.Resources/subscriptions/resourceGroups/read",
}

// networkPermissions are needed where the virtual network is.
var networkPermissions = []string{"Microsoft.Network/virtualNetworks/read", "Microsoft.Network/virtualNetworks/subnets/join/action"}

// dnsPermissions are needed where the DNS zone is.
var dnsPermissions = []string{
	"Microsoft.Network/dnsZones/A/delete", "Microsoft.Network/dnsZones/A/read", "Microsoft.Network/dnsZones/A/write",
	"Microsoft.Network/dnsZones/AAAA/delete", "Microsoft.Network/dnsZones/AAAA/read", "Microsoft.Network/dnsZones/AAAA/write",
	"Microsoft.Network/dnsZones/CNAME/read",
	"Microsoft.Network/dnsZones/TXT/delete", "Microsoft.Network/dnsZones/TXT/read", "Microsoft.Network/dnsZones/TXT/write",
	"Microsoft.Network/dnsZones/read",
}

// survey is one look at an account.
type survey struct {
	g      *group
	found  []family.Finding
	sizes  map[string]*armcompute.ResourceSKU // nil where they can't be read
	images map[string]bool                    // looked at
	taken  []taken                            // what is needed of quotas
}

func (s *survey) good(about, subject, format string, args ...any) {
	s.found = append(s.found, family.Finding{About: about, Subject: subject, OK: true, Message: fmt.Sprintf(format, args...)})
}

func (s *survey) bad(about, subject string, code app.Code, hint, format string, args ...any) {
	s.found = append(s.found, family.Finding{About: about, Subject: subject, Code: code, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (s *survey) doubt(about, subject, hint, format string, args ...any) {
	s.found = append(s.found, family.Finding{About: about, Subject: subject, Warning: true, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// failed is a question that was not answered as it should; lacks is what it means where there is no such thing.
func (s *survey) failed(about, subject string, err error, lacks, hint string) {
	e := app.AsError(err)
	switch {
	case e.Code == app.ENotFound, e.Code == app.EInvalid && lacks != "":
		s.bad(about, subject, app.EInvalid, hint, "%s", lacks)
	case e.Code == app.ECredentials && about != family.AboutCredentials:
		s.bad(family.AboutPermissions, subject, e.Code, cmp.Or(e.Hint, hintRole), "Can't check %s: %s", subject, e.Message)
	case e.Code == app.EInternal:
		s.bad(about, subject, app.ETransient, "Check that Azure, or the proxy in front of it, is reachable, and try again.", "Can't connect to Azure: %v", err)
	default:
		s.bad(about, subject, e.Code, cmp.Or(e.Hint, "Try again later."), "%s", e.Message)
	}
}

// CheckAccount looks at credentials, resource group, permissions, subnet, DNS zone, sizes, images and quotas, and changes nothing.
func (g *group) CheckAccount(ctx context.Context, needs family.AccountNeeds) ([]family.Finding, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := &survey{g: g, images: map[string]bool{}}
	scope := g.endpoints().Services[cloud.ResourceManager].Audience + "/.default"
	if _, err := g.login.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{scope}}); err != nil {
		s.failed(family.AboutCredentials, "credentials", coded(err), "", "")
		return s.found, ctx.Err() // nothing else is answered without a token
	}
	s.good(family.AboutCredentials, "credentials", "Microsoft Entra ID accepts the credentials.")
	if !s.group(ctx) {
		return s.found, ctx.Err()
	}
	s.permissions(ctx)
	s.location(ctx)
	s.network(ctx)
	s.dns(ctx)
	for _, need := range needs.Machines {
		s.need(ctx, need)
	}
	s.quotas(ctx, needs.Each)
	return s.found, ctx.Err()
}

// group looks at the resource group; false where nothing else can be looked at.
func (s *survey) group(ctx context.Context) bool {
	path := "/subscriptions/" + s.g.subscription + "/resourceGroups/" + s.g.settings.group
	err := s.g.call(ctx, http.MethodGet, path, versionGroups, nil, nil)
	e := app.AsError(err)
	switch {
	case err == nil:
		s.good(family.AboutSettings, s.g.settings.group, "Resource group %s exists.", s.g.settings.group)
		return true
	case e.Reason == "SubscriptionNotFound", e.Reason == "InvalidSubscriptionId":
		s.bad(family.AboutSettings, "subscription_id", app.EInvalid, e.Hint, "Subscription %s doesn't exist, or the application has no role in it.", s.g.subscription)
	default:
		s.failed(family.AboutSettings, s.g.settings.group, err, "Resource group "+s.g.settings.group+" doesn't exist.", hints["ResourceGroupNotFound"])
	}
	return false
}

// permissions looks which actions the application's roles allow in the resource group.
func (s *survey) permissions(ctx context.Context) {
	path := "/subscriptions/" + s.g.subscription + "/resourceGroups/" + s.g.settings.group
	var page struct {
		Value []struct {
			Actions    []string `json:"actions"`
			NotActions []string `json:"notActions"`
		} `json:"value"`
	}
	if err := s.g.call(ctx, http.MethodGet, path+"/providers/Microsoft.Authorization/permissions", versionPermissions, nil, &page); err != nil {
		s.doubt(family.AboutPermissions, "permissions", hintRole, "Can't read the application's permissions: %s", app.AsError(err).Message)
		return
	}
	wanted := slices.Clone(permissions)
	if !within(s.g.subnet, path) {
		wanted = slices.DeleteFunc(wanted, func(a string) bool { return slices.Contains(networkPermissions, a) })
	}
	if s.g.zone != "" && within(s.g.zoneID, path) {
		wanted = append(wanted, dnsPermissions...)
	}
	var lacks []string
	for _, action := range wanted {
		if !slices.ContainsFunc(page.Value, func(p struct {
			Actions    []string `json:"actions"`
			NotActions []string `json:"notActions"`
		}) bool {
			return anyMatches(p.Actions, action) && !anyMatches(p.NotActions, action)
		}) {
			lacks = append(lacks, action)
		}
	}
	if len(lacks) > 0 {
		s.bad(family.AboutPermissions, s.g.settings.group, app.ECredentials, hintRole,
			"The application lacks permissions in resource group %s: %s.", s.g.settings.group, strings.Join(lacks, ", "))
		return
	}
	s.good(family.AboutPermissions, s.g.settings.group, "The application has the permissions that it needs in resource group %s.", s.g.settings.group)
}

// within reports whether a resource's ID is below a path.
func within(id, path string) bool {
	return strings.HasPrefix(strings.ToLower(id), strings.ToLower(path)+"/")
}

// anyMatches reports whether one of the patterns, such as Microsoft.Compute/*/read, allows an action.
func anyMatches(patterns []string, action string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		form, err := regexp.Compile("(?i)^" + strings.ReplaceAll(regexp.QuoteMeta(p), `\*`, ".*") + "$")
		return err == nil && form.MatchString(action)
	})
}

// location reads the sizes of the location. One without any isn't a location, or not one of the subscription.
func (s *survey) location(ctx context.Context) {
	sizes, err := s.g.readSizes(ctx)
	switch {
	case err != nil:
		s.failed(family.AboutRegion, "Microsoft.Compute/skus/read", err, "Location "+s.g.settings.location+" doesn't exist.", "Run az account list-locations.")
	case len(sizes) == 0:
		s.bad(family.AboutRegion, s.g.settings.location, app.EInvalid, "Run az account list-locations.",
			"Location %s has no machines for this subscription.", s.g.settings.location)
	default:
		s.sizes = sizes
		s.good(family.AboutRegion, s.g.settings.location, "Location %s is available.", s.g.settings.location)
	}
}

// network looks at the subnet and where it is.
func (s *survey) network(ctx context.Context) {
	path, subnet, _ := strings.Cut(s.g.subnet, "/subnets/")
	name := base(&path) + "/" + subnet
	var net struct {
		Location   string `json:"location"`
		Properties struct {
			Subnets []struct {
				Name       string `json:"name"`
				Properties struct {
					Wall *struct {
						ID string `json:"id"`
					} `json:"networkSecurityGroup"`
				} `json:"properties"`
			} `json:"subnets"`
		} `json:"properties"`
	}
	if err := s.g.call(ctx, http.MethodGet, path, versionNetwork, nil, &net); err != nil {
		s.failed(family.AboutNetwork, name, err, "Virtual network "+base(&path)+" doesn't exist.", "Create it, or correct the setting subnet.")
		return
	}
	if !strings.EqualFold(net.Location, s.g.settings.location) {
		s.bad(family.AboutNetwork, name, app.EInvalid, "Use a virtual network in the location, or correct the setting location.",
			"Virtual network %s is in %s, not in %s.", base(&path), net.Location, s.g.settings.location)
		return
	}
	for _, n := range net.Properties.Subnets {
		if !strings.EqualFold(n.Name, subnet) {
			continue
		}
		s.good(family.AboutNetwork, name, "Subnet %s exists.", name)
		if n.Properties.Wall == nil && s.g.public {
			s.doubt(family.AboutNetwork, name, "Add a network security group to the subnet that allows SSH from Muster, or use templates with a firewall.",
				"Subnet %s has no network security group: Azure blocks connections to public addresses of machines without a firewall.", name)
		}
		return
	}
	s.bad(family.AboutNetwork, name, app.EInvalid, "Create it, or correct the setting subnet.", "Virtual network %s has no subnet %s.", base(&path), subnet)
}

func (s *survey) dns(ctx context.Context) {
	if s.g.zone == "" {
		return
	}
	if err := s.g.call(ctx, http.MethodGet, s.g.zoneID, versionDNS, nil, nil); err != nil {
		e := s.g.noZone()
		s.failed(family.AboutNetwork, s.g.zone, err, e.Message, e.Hint)
		return
	}
	s.good(family.AboutNetwork, s.g.zone, "DNS zone %s exists for machine names.", s.g.zone)
}
