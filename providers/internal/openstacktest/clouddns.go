package openstacktest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

const domainID = 2725233

// dnsJob is a change that Cloud DNS works on: nothing of it is to be seen before it is over.
type dnsJob struct {
	id    string
	at    time.Time
	do    func() (made []object, fault object)
	made  []object
	fault object
}

func dnsFault(status int, message, details string) object {
	return object{"code": status, "message": message, "details": details}
}

// refuse answers with a fault, with the kind's name nowhere around it.
func refuse(w http.ResponseWriter, fault object) { answer(w, fault["code"].(int), fault) }

// work ends the jobs whose time has come.
func (c *Cloud) work() {
	for _, j := range c.jobs {
		if j.do != nil && !time.Now().Before(j.at) {
			j.made, j.fault = j.do()
			j.do = nil
		}
	}
}

// cloudDNS are the names of a Rackspace account.
type cloudDNS struct{ *Cloud }

func (c cloudDNS) routes(mux *http.ServeMux, at string) {
	records := fmt.Sprintf("%s/domains/%d/records", at, domainID)
	for pattern, do := range map[string]http.HandlerFunc{
		"GET " + at + "/domains":      c.listDomains,
		"GET " + at + "/limits":       c.dnsLimits,
		"GET " + at + "/status/{job}": c.showJob,
		"GET " + records:              c.listRecords,
		"POST " + records:             c.addRecords,
		"PUT " + records + "/{id}":    c.updateRecord,
		"DELETE " + records:           c.deleteRecords,
	} {
		mux.HandleFunc(pattern, c.guarded(do))
	}
}

func (c cloudDNS) listDomains(w http.ResponseWriter, r *http.Request) {
	all := []object{}
	if name := r.URL.Query().Get("name"); name == "" || name == Zone {
		all = append(all, object{"name": Zone, "id": domainID, "accountId": 1100111, "emailAddress": "ops@" + Zone, "created": "2026-03-01T12:00:00.000+0000"})
	}
	answer(w, http.StatusOK, object{"domains": all, "totalEntries": 114})
}

func (c cloudDNS) dnsLimits(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, object{"rates": object{"rate": []any{}}, "absolute": object{"limit": []object{{"name": "domains", "value": 500}, {"name": "records per domain", "value": c.maxRecords()}}}})
}

func (c cloudDNS) maxRecords() int { return cmp.Or(c.Records, 500) }

func shownRecord(s *recordset) object {
	return object{"name": strings.TrimSuffix(s.name, "."), "id": s.id, "type": s.kind, "data": s.records[0], "ttl": 300, "created": "2026-03-01T12:00:00.000+0000"}
}

// listRecords shows records, and finds nothing by a name with an underscore in it.
func (c cloudDNS) listRecords(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	limit, offset := c.PageSize, 0
	if n, err := strconv.Atoi(q.Get("limit")); err == nil && n < limit {
		limit = n
	}
	if text := q.Get("offset"); text != "" {
		var err error
		if offset, err = strconv.Atoi(text); err != nil || offset%limit != 0 {
			refuse(w, dnsFault(http.StatusBadRequest, "The request could not be processed.", "The offset must be a multiple of the limit."))
			return
		}
	}
	if (q.Has("name") || q.Has("data")) && !q.Has("type") {
		refuse(w, dnsFault(http.StatusBadRequest, "The request could not be processed.", "Must provide a type to search records."))
		return
	}
	all := []object{}
	for _, s := range c.sets {
		if o := shownRecord(s); matches(o, q, "name", "type", "data") && !strings.Contains(q.Get("name"), "_") {
			all = append(all, o)
		}
	}
	from, to := min(offset, len(all)), min(offset+limit, len(all))
	out := object{"records": all[from:to], "totalEntries": len(all)}
	if to < len(all) {
		out["links"] = []object{{"content": "", "rel": "next", "href": fmt.Sprintf("https://127.0.0.1:1%s?limit=%d&offset=%d", r.URL.Path, limit, to)}}
	}
	answer(w, http.StatusOK, out)
}

// begin answers with a job, which is over after a little while.
func (c cloudDNS) begin(w http.ResponseWriter, r *http.Request, do func() ([]object, object)) {
	j := &dnsJob{id: newID(), at: time.Now().Add(c.build), do: do}
	c.jobs[j.id] = j
	c.showOne(w, r, j, http.StatusAccepted)
}

func (c cloudDNS) showJob(w http.ResponseWriter, r *http.Request) {
	j := c.jobs[r.PathValue("job")]
	switch {
	case j == nil:
		refuse(w, dnsFault(http.StatusNotFound, "Object not Found.", "Job ID: "+r.PathValue("job")))
	case j.do != nil:
		c.showOne(w, r, j, http.StatusAccepted)
	default:
		c.showOne(w, r, j, http.StatusOK)
	}
}

func (c cloudDNS) showOne(w http.ResponseWriter, r *http.Request, j *dnsJob, status int) {
	out := object{"jobId": j.id, "callbackUrl": "https://127.0.0.1:1/v1.0/" + Tenant + "/status/" + j.id, "status": "RUNNING"}
	details := r.URL.Query().Get("showDetails") == "true"
	switch {
	case j.do != nil:
	case j.fault != nil:
		out["status"] = "ERROR"
		if details {
			out["error"] = j.fault
		}
	default:
		out["status"] = "COMPLETED"
		if details && j.made != nil {
			out["response"] = object{"records": j.made}
		}
	}
	answer(w, status, out)
}

type asked struct {
	ID, Name, Type, Data, Comment string
	TTL                           int
}

// wrong tells what Cloud DNS finds wrong in a record at once.
func (a asked) wrong() string {
	ip, err := netip.ParseAddr(a.Data)
	switch {
	case !strings.HasSuffix(a.Name, "."+Zone):
		return a.Name + " is not a valid name in the domain."
	case a.TTL != 0 && a.TTL < 300:
		return "TTL must be greater than or equal to 300."
	case len(a.Comment) > 160:
		return "Comment must not be longer than 160 characters."
	case a.Type == "A" && (err != nil || !ip.Is4()), a.Type == "AAAA" && (err != nil || ip.Is4()):
		return a.Data + " is not a valid IP address."
	case a.Type == "TXT" && (a.Data == "" || len(a.Data) > 255 || strings.ContainsAny(a.Data, `"\`)):
		return "Invalid text."
	}
	return ""
}

func invalid(w http.ResponseWriter, messages ...string) {
	answer(w, http.StatusBadRequest, object{"code": 400, "validationErrors": object{"messages": messages}})
}

func (c cloudDNS) addRecords(w http.ResponseWriter, r *http.Request) {
	var in struct{ Records []asked }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.Records) == 0 {
		refuse(w, dnsFault(http.StatusBadRequest, "The request could not be processed.", "There are no records."))
		return
	}
	for _, a := range in.Records {
		if wrong := a.wrong(); wrong != "" || a.ID != "" || a.Type == "" {
			invalid(w, cmp.Or(wrong, "A record that is added has a type and no ID."))
			return
		}
	}
	if len(c.sets)+len(in.Records) > c.maxRecords() {
		refuse(w, dnsFault(http.StatusRequestEntityTooLarge, "Your account is currently over the limit so your request could not be processed.", fmt.Sprintf("Limit of %d records per domain has been reached.", c.maxRecords())))
		return
	}
	c.begin(w, r, func() (made []object, fault object) {
		for _, a := range in.Records {
			if slices.ContainsFunc(c.sets, func(s *recordset) bool {
				return s.name == a.Name+"." && (s.kind == a.Type && s.records[0] == a.Data || s.kind == "CNAME")
			}) {
				return nil, dnsFault(http.StatusConflict, "The object already exists.", "Record is a duplicate of another record.")
			}
		}
		for _, a := range in.Records {
			s := &recordset{id: fmt.Sprintf("%s-%d", a.Type, 9778009+c.next), name: a.Name + ".", kind: a.Type, records: []string{a.Data}}
			c.next++
			c.sets = append(c.sets, s)
			made = append(made, shownRecord(s))
		}
		return made, nil
	})
}

func (c cloudDNS) updateRecord(w http.ResponseWriter, r *http.Request) {
	var in asked
	id := r.PathValue("id")
	err := json.NewDecoder(r.Body).Decode(&in)
	kind, _, _ := strings.Cut(id, "-")
	in.Type = cmp.Or(in.Type, kind)
	if wrong := in.wrong(); err != nil || wrong != "" || in.Type != kind {
		invalid(w, cmp.Or(wrong, "The type cannot be changed."))
		return
	}
	c.begin(w, r, func() ([]object, object) {
		i := slices.IndexFunc(c.sets, func(s *recordset) bool { return s.id == id })
		if i < 0 || c.sets[i].name != in.Name+"." {
			return nil, dnsFault(http.StatusNotFound, "Object not Found.", "Record ID: "+id)
		}
		c.sets[i].records = []string{in.Data}
		return nil, nil
	})
}

func (c cloudDNS) deleteRecords(w http.ResponseWriter, r *http.Request) {
	ids := r.URL.Query()["id"]
	if len(ids) == 0 {
		invalid(w, "Must provide at least one record.")
		return
	}
	c.begin(w, r, func() ([]object, object) {
		var failed []object
		for _, id := range ids {
			before := len(c.sets)
			c.sets = slices.DeleteFunc(c.sets, func(s *recordset) bool { return s.id == id })
			if len(c.sets) == before {
				failed = append(failed, dnsFault(http.StatusNotFound, "Object not Found.", "Record ID: "+id))
			}
		}
		if failed == nil {
			return nil, nil
		}
		fault := dnsFault(http.StatusInternalServerError, "One or more items could not be deleted.", "See errors list for details.")
		fault["failedItems"] = object{"faults": failed}
		return nil, fault
	})
}
