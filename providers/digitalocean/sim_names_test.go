package digitalocean

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

func (s *sim) listRecords(c *call) {
	if s.domain != c.id() {
		c.notFound()
		return
	}
	q := c.r.URL.Query()
	var out []map[string]any
	for _, r := range s.records {
		whole := strings.TrimPrefix(r["name"].(string)+"."+s.domain, "@.")
		if (q.Get("type") == "" || q.Get("type") == r["type"]) && (q.Get("name") == "" || q.Get("name") == whole) {
			out = append(out, r)
		}
	}
	c.list("domain_records", out)
}

// writeRecord makes a record, or changes one. Two of the same type, name and data cannot be; a CNAME is alone.
func (s *sim) writeRecord(c *call) {
	if s.domain != c.id() {
		c.notFound()
		return
	}
	kind, name, data := text(c.body["type"]), text(c.body["name"]), text(c.body["data"])
	ip, err := netip.ParseAddr(data)
	switch {
	case !slices.Contains([]string{"A", "AAAA", "CNAME", "TXT"}, kind):
		c.unprocessable("Record type is not valid")
		return
	case name == "" || strings.HasSuffix(name, s.domain) || data == "":
		c.unprocessable("Name or data is not valid")
		return
	case kind == "A" && (err != nil || !ip.Is4()), kind == "AAAA" && (err != nil || !ip.Is6()):
		c.unprocessable("Data is not valid")
		return
	case kind == "TXT" && len(data) > 255:
		c.unprocessable("Data is too long")
		return
	case c.body["ttl"].(float64) < 30:
		c.unprocessable("TTL must be at least 30")
		return
	}
	for _, r := range s.records {
		if r["name"] == name && r["type"] == "CNAME" {
			c.unprocessable("CNAME records cannot share a name with other records")
			return
		}
	}
	r := map[string]any{"type": kind, "name": name, "data": data, "ttl": c.body["ttl"], "priority": nil, "port": nil, "weight": nil, "flags": nil, "tag": nil}
	id := atoi(c.r.PathValue("record"), 0)
	if id == 0 {
		s.serial++
		r["id"] = s.serial
		s.records = append(s.records, r)
		c.answer(201, map[string]any{"domain_record": r})
		return
	}
	i := slices.IndexFunc(s.records, func(r map[string]any) bool { return r["id"] == id })
	if i < 0 {
		c.notFound()
		return
	}
	r["id"] = id
	s.records[i] = r
	c.answer(200, map[string]any{"domain_record": r})
}

func (s *sim) deleteRecord(c *call) {
	id := atoi(c.r.PathValue("record"), 0)
	i := slices.IndexFunc(s.records, func(r map[string]any) bool { return r["id"] == id })
	if s.domain != c.id() || i < 0 {
		c.notFound()
		return
	}
	s.records = slices.Delete(s.records, i, i+1)
	c.answer(204, nil)
}

// named returns what the zone has for a name and beside it, as text.
func (s *sim) named(name string) (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.records {
		if whole := r["name"].(string) + "." + s.domain; whole == name {
			out = append(out, fmt.Sprint(r["type"], " ", r["data"]))
		}
	}
	slices.Sort(out)
	return out
}

// take has someone else put a record at a name.
func (s *sim) take(name, kind, data string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = append(s.records, map[string]any{"id": 20 + len(s.records), "type": kind, "name": strings.TrimSuffix(name, "."+s.domain), "data": data, "ttl": 1800})
}
