package openstacktest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Zone is the project's DNS zone.
const (
	Zone   = "suite.test"
	zoneID = "2150b1bf-dee2-4221-9d85-11f7886fb15f"
)

type recordset struct {
	id, name, kind string
	records        []string
	foreign        bool
	going          int // how often it is still shown after it was deleted
}

func designateError(w http.ResponseWriter, status int, kind, message string) {
	answer(w, status, object{"code": status, "type": kind, "message": message, "request_id": "req-1"})
}

// designate are the names of an OpenStack project.
type designate struct{ *Cloud }

func (c designate) routes(mux *http.ServeMux) {
	const at = "/dns/v2/zones"
	mux.HandleFunc("GET "+at, c.guarded(func(w http.ResponseWriter, r *http.Request) {
		z := object{"id": zoneID, "name": Zone + ".", "project_id": ProjectID, "type": "PRIMARY", "status": "ACTIVE", "action": "NONE", "serial": 1, "ttl": 3600, "email": "ops@suite.test"}
		if c.Secondary {
			z["type"] = "SECONDARY"
		}
		var all []object
		if matches(z, r.URL.Query(), "name") {
			all = append(all, z)
		}
		c.page(w, r, "zones", all)
	}))
	mux.HandleFunc("GET "+at+"/{zone}/recordsets", c.guarded(c.listSets))
	mux.HandleFunc("POST "+at+"/{zone}/recordsets", c.guarded(c.writeSet))
	mux.HandleFunc("PUT "+at+"/{zone}/recordsets/{id}", c.guarded(c.writeSet))
	mux.HandleFunc("DELETE "+at+"/{zone}/recordsets/{id}", c.guarded(c.deleteSet))
}

func shownSet(s *recordset) object {
	action := "NONE"
	if s.going > 0 {
		action = "DELETE"
	}
	return object{"id": s.id, "zone_id": zoneID, "zone_name": Zone + ".", "project_id": ProjectID, "name": s.name, "type": s.kind, "records": s.records, "ttl": 60, "status": "PENDING", "action": action, "version": 1}
}

func (c designate) listSets(w http.ResponseWriter, r *http.Request) {
	var all []object
	for _, s := range c.sets {
		if o := shownSet(s); matches(o, r.URL.Query(), "name", "type") {
			all = append(all, o)
		}
		if s.going > 0 {
			s.going--
			if s.going == 0 {
				s.kind = ""
			}
		}
	}
	c.sets = slices.DeleteFunc(c.sets, func(s *recordset) bool { return s.kind == "" })
	c.page(w, r, "recordsets", all)
}

func (c designate) writeSet(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Name, Type string
		Records    []string
		TTL        int
	}
	err := json.NewDecoder(r.Body).Decode(&in)
	if err != nil || r.PathValue("zone") != zoneID || len(in.Records) == 0 || in.TTL < 1 {
		designateError(w, http.StatusBadRequest, "invalid_object", "Provided object does not match schema")
		return
	}
	if id := r.PathValue("id"); id != "" {
		i := slices.IndexFunc(c.sets, func(s *recordset) bool { return s.id == id })
		if i < 0 {
			designateError(w, http.StatusNotFound, "recordset_not_found", "Could not find RecordSet")
			return
		}
		c.sets[i].records = in.Records
		answer(w, http.StatusAccepted, shownSet(c.sets[i]))
		return
	}
	switch {
	case !strings.HasSuffix(in.Name, "."+Zone+"."), in.Type == "TXT" && (!strings.HasPrefix(in.Records[0], `"`) || len(in.Records[0]) > 257):
		designateError(w, http.StatusBadRequest, "invalid_object", "Provided object does not match schema")
		return
	case slices.ContainsFunc(c.sets, func(s *recordset) bool { return s.name == in.Name && (s.kind == in.Type || s.kind == "CNAME") }):
		designateError(w, http.StatusConflict, "duplicate_recordset", "Duplicate RecordSet")
		return
	}
	s := &recordset{id: newID(), name: in.Name, kind: in.Type, records: in.Records}
	c.sets = append(c.sets, s)
	answer(w, http.StatusAccepted, shownSet(s))
}

func (c designate) deleteSet(w http.ResponseWriter, r *http.Request) {
	i := slices.IndexFunc(c.sets, func(s *recordset) bool { return s.id == r.PathValue("id") && s.going == 0 })
	if i < 0 {
		designateError(w, http.StatusNotFound, "recordset_not_found", "Could not find RecordSet")
		return
	}
	c.sets[i].going = 2
	answer(w, http.StatusAccepted, shownSet(c.sets[i]))
}

// Named returns what a name leads to.
func (c *Cloud) Named(name string) (out []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.sets {
		for _, v := range s.records {
			if s.name == name+"." && s.going == 0 {
				out = append(out, fmt.Sprint(s.kind, " ", v))
			}
		}
	}
	slices.Sort(out)
	return out
}

// Take has someone else put a record at a name.
func (c *Cloud) Take(name, kind, data string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sets = append(c.sets, &recordset{id: newID(), name: name + ".", kind: kind, records: []string{data}, foreign: true})
}
