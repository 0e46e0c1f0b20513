package google

import (
	"net/http"
	"slices"
	"strings"

	"muster/providers/google/internal/gcp"
)

func (c *cloud) listManaged(w http.ResponseWriter, r *http.Request) {
	out := &gcp.ManagedZoneList{}
	for _, z := range c.managed {
		if name := r.URL.Query().Get("dnsName"); name == "" || z.DNSName == name {
			out.ManagedZones = append(out.ManagedZones, z)
		}
	}
	reply(w, out)
}

// listSets returns three sets a page.
func (c *cloud) listSets(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("type") != "" && q.Get("name") == "" {
		answer{http.StatusBadRequest, "required", "The 'name' parameter is required when 'type' is given.", nil}.write(w)
		return
	}
	if r.PathValue("managed") != "suite" {
		notFound("managedZones/" + r.PathValue("managed")).write(w)
		return
	}
	var fit []*gcp.RecordSet
	for _, s := range c.sets {
		if (q.Get("name") == "" || q.Get("name") == s.Name) && (q.Get("type") == "" || q.Get("type") == s.Type) {
			fit = append(fit, s)
		}
	}
	from := min(len(q.Get("pageToken")), len(fit))
	out := &gcp.RecordSetList{Sets: fit[from:min(from+3, len(fit))]}
	if from+3 < len(fit) {
		out.NextPageToken = strings.Repeat("x", from+3)
	}
	reply(w, out)
}

func (c *cloud) setAt(name, kind string) int {
	return slices.IndexFunc(c.sets, func(s *gcp.RecordSet) bool { return s.Name == name && s.Type == kind })
}

// writeSet makes a set, or changes one. A CNAME is alone.
func (c *cloud) writeSet(w http.ResponseWriter, r *http.Request) {
	var in gcp.RecordSet
	if !sent(w, r, &in) {
		return
	}
	if !strings.HasSuffix(in.Name, ".suite.test.") || in.TTL < 1 || len(in.Data) == 0 ||
		in.Type == "TXT" && (!strings.HasPrefix(in.Data[0], `"`) || len(in.Data[0]) > 257) {
		answer{http.StatusBadRequest, "invalid", "Invalid value for 'entity.change.additions'", nil}.write(w)
		return
	}
	i := c.setAt(in.Name, in.Type)
	switch {
	case r.PathValue("managed") != "suite", r.Method == http.MethodPatch && i < 0:
		notFound(r.URL.Path).write(w)
	case r.Method == http.MethodPatch:
		c.sets[i] = &in
		reply(w, in)
	case i >= 0:
		answer{http.StatusConflict, "alreadyExists", "The resource record set '" + in.Name + "' already exists.", nil}.write(w)
	case c.setAt(in.Name, "CNAME") >= 0:
		answer{http.StatusBadRequest, "cnameResourceRecordSetConflict", "The resource record set is invalid because there is a CNAME.", nil}.write(w)
	default:
		c.sets = append(c.sets, &in)
		reply(w, in)
	}
}

func (c *cloud) deleteSet(w http.ResponseWriter, r *http.Request) {
	i := c.setAt(r.PathValue("name"), r.PathValue("type"))
	if i < 0 {
		notFound(r.URL.Path).write(w)
		return
	}
	c.sets = slices.Delete(c.sets, i, i+1)
	reply(w, map[string]any{})
}

// named returns what a name leads to, and take puts something there.
func (c *cloud) named(name string) (out []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.sets {
		for _, v := range s.Data {
			if s.Name == name+"." {
				out = append(out, s.Type+" "+v)
			}
		}
	}
	slices.Sort(out)
	return out
}

func (c *cloud) take(name, kind, data string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sets = append(c.sets, &gcp.RecordSet{Name: name + ".", Type: kind, TTL: 300, Data: []string{data}})
}
