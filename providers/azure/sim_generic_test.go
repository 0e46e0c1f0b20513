package azure

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

var (
	rgPath   = regexp.MustCompile(`^/subscriptions/[^/]+/resourceGroups/([^/]+)(/providers/Microsoft\.Authorization/permissions)?$`)
	vnetPath = regexp.MustCompile(`^/subscriptions/[^/]+/resourceGroups/([^/]+)/providers/Microsoft\.Network/virtualNetworks/([^/]+)$`)
	dnsPath  = regexp.MustCompile(`^/subscriptions/[^/]+/resourceGroups/([^/]+)/providers/Microsoft\.Network/dnsZones/([^/]+)(?:/(recordsets|A|AAAA|TXT|CNAME)(?:/([^/]+))?)?$`)
)

// generic answers what is called without a client of the SDK.
func (s *sim) generic(w http.ResponseWriter, r *http.Request) bool {
	rg, vnet, dns := rgPath.FindStringSubmatch(r.URL.Path), vnetPath.FindStringSubmatch(r.URL.Path), dnsPath.FindStringSubmatch(r.URL.Path)
	group := ""
	for _, m := range [][]string{rg, vnet, dns} {
		if m != nil {
			group = m[1]
		}
	}
	switch {
	case group == "":
		return false
	case group != s.group:
		answerError(w, &simError{404, "ResourceGroupNotFound", "Resource group '" + group + "' could not be found."})
	case rg != nil && rg[2] == "":
		answer(w, 200, map[string]any{"id": "/subscriptions/" + simSubscription + "/resourceGroups/" + s.group, "name": s.group, "location": simLocation})
	case rg != nil:
		actions := slices.DeleteFunc(append(slices.Clone(permissions), dnsPermissions...), func(a string) bool { return s.denied[a] })
		answer(w, 200, map[string]any{"value": []any{map[string]any{"actions": actions, "notActions": []string{}}}})
	case vnet != nil:
		s.vnet(w, vnet[2])
	default:
		s.dns(w, r, strings.ToLower(dns[2]), dns[3], strings.ToLower(dns[4]))
	}
	return true
}

func (s *sim) vnet(w http.ResponseWriter, name string) {
	subnets := []any{}
	for n, guarded := range s.subnets {
		net, subnet, _ := strings.Cut(n, "/")
		if net != name {
			continue
		}
		p := map[string]any{"addressPrefix": "10.0.0.0/24"}
		if guarded {
			p["networkSecurityGroup"] = map[string]any{"id": s.id(kindWall, "theirs")}
		}
		subnets = append(subnets, map[string]any{"name": subnet, "properties": p})
	}
	if name != "vnet" && name != "far" {
		answerError(w, &simError{404, "ResourceNotFound", "The Resource was not found."})
		return
	}
	location := simLocation
	if name == "far" {
		location = "northeurope"
	}
	answer(w, 200, map[string]any{"name": name, "location": location, "properties": map[string]any{"subnets": subnets}})
}

// dns keeps record sets by type and name.
func (s *sim) dns(w http.ResponseWriter, r *http.Request, zone, kind, name string) {
	if !s.zones[zone] {
		answerError(w, &simError{404, "ResourceNotFound", "The Resource 'Microsoft.Network/dnszones/" + zone + "' was not found."})
		return
	}
	key := kind + "/" + name
	switch {
	case r.Method == http.MethodGet && kind == "":
		answer(w, 200, map[string]any{"name": zone})
	case r.Method == http.MethodGet && name == "":
		all := []*recordSet{{Name: "@", Type: "Microsoft.Network/dnszones/NS"}}
		for _, k := range slices.Sorted(keysOf(s.records)) {
			if kind == "recordsets" || strings.HasPrefix(k, kind+"/") {
				all = append(all, s.records[k])
			}
		}
		b, _ := json.Marshal(map[string]any{"value": all})
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(s.paging(r, b))
	case r.Method == http.MethodGet && s.records[key] == nil:
		answerError(w, &simError{404, "NotFound", "The resource record '" + name + "' does not exist in resource group."})
	case r.Method == http.MethodGet:
		answer(w, 200, s.records[key])
	case r.Method == http.MethodDelete && s.records[key] == nil:
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodDelete:
		delete(s.records, key)
		answer(w, 200, nil)
	default:
		body, _ := io.ReadAll(r.Body)
		set := &recordSet{}
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		err := d.Decode(set)
		n := map[string]int{"A": len(set.Properties.A), "AAAA": len(set.Properties.AAAA), "TXT": len(set.Properties.TXT)}[kind]
		if err != nil || n == 0 || set.Properties.TTL < 1 || len(s.records) > 1 && s.records["CNAME/"+name] != nil {
			s.wrong = append(s.wrong, "bad record set "+string(body))
			answerError(w, &simError{400, "BadRequest", "bad record set"})
			return
		}
		set.Name, set.Type = name, "Microsoft.Network/dnszones/"+kind
		s.records[key] = set
		answer(w, 201, set)
	}
}
