package azure

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"muster/app"
	"muster/app/family"
	"muster/providers/internal/account"
	"muster/providers/internal/records"
)

// Versions of Resource Manager's APIs that are used without a client of the SDK.
const (
	versionDNS         = "2018-05-01"
	versionGroups      = "2021-04-01"
	versionPermissions = "2022-04-01"
	versionNetwork     = "2025-01-01"
	versionCompute     = "2024-07-01"
	versionGalleries   = "2024-03-03"
)

// call sends a request to Resource Manager and reads its answer into out. The path may be a whole address of a list's next page.
func (g *group) call(ctx context.Context, method, path, version string, body, out any) error {
	at := path
	if !strings.HasPrefix(path, "https://") {
		at = runtime.JoinPaths(g.rest.Endpoint(), path) + "?api-version=" + version
	} else if next, err := url.Parse(path); err != nil || !strings.HasPrefix(path, strings.TrimRight(g.rest.Endpoint(), "/")+"/") || next.User != nil {
		return app.Errorf(app.ETransient, "Azure's list continues at another address.")
	}
	r, err := runtime.NewRequest(ctx, method, at)
	if err != nil {
		return app.Errorf(app.EInvalid, "Can't send the request to Azure: %w", err)
	}
	if body != nil {
		if err := runtime.MarshalAsJSON(r, body); err != nil {
			return app.Errorf(app.EInvalid, "Can't send the request to Azure: %w", err)
		}
	}
	answer, err := g.rest.Pipeline().Do(r)
	if err != nil {
		return coded(err)
	}
	if !runtime.HasStatusCode(answer, http.StatusOK, http.StatusCreated, http.StatusNoContent) {
		return coded(runtime.NewResponseError(answer))
	}
	if out == nil || answer.StatusCode == http.StatusNoContent {
		return nil
	}
	if err := runtime.UnmarshalAsJSON(answer, out); err != nil {
		return app.Errorf(app.ETransient, "Can't parse Azure's response: %w", err)
	}
	return nil
}

// zone is the account's DNS zone.
type zone struct{ g *group }

var _ records.Zone = zone{}

// recordSet is how Azure DNS writes one.
type recordSet struct {
	Name       string `json:"name,omitempty"`
	Type       string `json:"type,omitempty"`
	Properties struct {
		TTL    int          `json:"TTL"`
		A      []recordA    `json:"ARecords,omitempty"`
		AAAA   []recordAAAA `json:"AAAARecords,omitempty"`
		TXT    []recordTXT  `json:"TXTRecords,omitempty"`
		CNAME  *recordCNAME `json:"CNAMERecord,omitempty"`
		Target *struct {
			ID string `json:"id,omitempty"`
		} `json:"targetResource,omitempty"`
	} `json:"properties"`
}

type (
	recordA struct {
		Address string `json:"ipv4Address"`
	}
	recordAAAA struct {
		Address string `json:"ipv6Address"`
	}
	recordTXT struct {
		Value []string `json:"value"`
	}
	recordCNAME struct {
		Name string `json:"cname"`
	}
)

// NameZone implements family.Namer.
func (g *group) NameZone() string { return g.zone }

// SetName implements family.Namer.
func (g *group) SetName(ctx context.Context, m family.Machine) error {
	unlock, err := g.locks.Lock(ctx, "name "+m.Hostname)
	if err != nil {
		return err
	}
	defer unlock()
	if err = records.Keep(ctx, zone{g}, g.zone, m); isAbsent(err) {
		return g.noZone()
	}
	return err
}

func (g *group) noZone() *app.Error {
	return hinted(app.Errorf(app.EInvalid, "DNS zone %s doesn't exist.", g.zone), "Create it in the resource group, or set dns_zone to the zone's resource ID.")
}

// dropNames removes the records of a machine that is going. A zone that is gone has none.
func (g *group) dropNames(ctx context.Context, id string) error {
	if g.zone == "" {
		return nil
	}
	vm, err := g.vm(ctx, id)
	if err == nil {
		err = records.Drop(ctx, zone{g}, tagsFrom(vm.Tags))
	}
	if isAbsent(err) {
		return nil
	}
	return err
}

// relative is a name within the zone.
func (z zone) relative(name string) string {
	if name == z.g.zone {
		return "@"
	}
	return strings.TrimSuffix(name, "."+z.g.zone)
}

func (z zone) path(kind, name string) string { return z.g.zoneID + "/" + kind + "/" + z.relative(name) }

// Sets implements records.Zone. Azure lists all sets, or those of a type, or tells one by type and name.
func (z zone) Sets(ctx context.Context, name, kind string) ([]records.Set, error) {
	if name == "" {
		path := z.g.zoneID + "/recordsets"
		if kind != "" {
			path = z.g.zoneID + "/" + kind
		}
		return z.list(ctx, path)
	}
	wanted := []string{"A", "AAAA", "CNAME", "TXT"}
	if kind != "" {
		wanted = []string{kind}
	}
	var out []records.Set
	for _, kind := range wanted {
		var r recordSet
		err := z.g.call(ctx, http.MethodGet, z.path(kind, name), versionDNS, nil, &r)
		if err == nil {
			out = append(out, z.set(r))
		} else if !isAbsent(err) {
			return nil, err
		}
	}
	if len(out) == 0 { // the zone itself may be missing
		return nil, z.g.call(ctx, http.MethodGet, z.g.zoneID, versionDNS, nil, nil)
	}
	return out, nil
}

func (z zone) list(ctx context.Context, path string) ([]records.Set, error) {
	var out []records.Set
	for n := 0; path != ""; n++ {
		if n == account.MaxPages {
			return nil, account.EndlessList("Azure")
		}
		var page struct {
			Value []recordSet `json:"value"`
			Next  string      `json:"nextLink"`
		}
		if err := z.g.call(ctx, http.MethodGet, path, versionDNS, nil, &page); err != nil {
			return nil, err
		}
		for _, r := range page.Value {
			out = append(out, z.set(r))
		}
		path = page.Next
	}
	return out, nil
}

func (z zone) set(r recordSet) records.Set {
	s := records.Set{Name: z.g.zone, Type: strings.ToUpper(r.Type[strings.LastIndex(r.Type, "/")+1:])}
	s.Routed = r.Properties.Target != nil && r.Properties.Target.ID != ""
	if r.Name != "@" {
		s.Name = strings.ToLower(r.Name) + "." + z.g.zone
	}
	for _, x := range r.Properties.A {
		s.Values = append(s.Values, x.Address)
	}
	for _, x := range r.Properties.AAAA {
		s.Values = append(s.Values, x.Address)
	}
	for _, x := range r.Properties.TXT {
		s.Values = append(s.Values, strings.Join(x.Value, ""))
	}
	if c := r.Properties.CNAME; c != nil {
		s.Values = append(s.Values, c.Name)
	}
	return s
}

// Write implements records.Zone.
func (z zone) Write(ctx context.Context, s records.Set) error {
	var r recordSet
	r.Properties.TTL = records.Seconds
	for _, v := range slices.Sorted(slices.Values(s.Values)) {
		switch s.Type {
		case "A":
			r.Properties.A = append(r.Properties.A, recordA{v})
		case "AAAA":
			r.Properties.AAAA = append(r.Properties.AAAA, recordAAAA{v})
		default:
			r.Properties.TXT = append(r.Properties.TXT, recordTXT{[]string{v}})
		}
	}
	return z.g.call(ctx, http.MethodPut, z.path(s.Type, s.Name), versionDNS, r, nil)
}

// Remove implements records.Zone.
func (z zone) Remove(ctx context.Context, name, kind string) error {
	err := z.g.call(ctx, http.MethodDelete, z.path(kind, name), versionDNS, nil, nil)
	if isAbsent(err) {
		return nil
	}
	return err
}
