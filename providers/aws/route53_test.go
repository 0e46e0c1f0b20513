package aws

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The part of the simulated AWS that is Route 53: REST with XML, signed for us-east-1 whatever the account's region is.

const dnsNamespace = "https://route53.amazonaws.com/doc/2013-04-01/"

// simZone is a hosted zone. Names in it end with a dot.
type simZone struct {
	id, name string
	private  bool
	sets     []simSet
}

// simSet is a set of records, in Route 53's own XML.
type simSet struct {
	Name          string
	Type          string
	SetIdentifier string     `xml:",omitempty"`
	Weight        string     `xml:",omitempty"`
	TTL           string     `xml:",omitempty"`
	Records       simRecords `xml:"ResourceRecords"`
	Alias         *simAlias  `xml:"AliasTarget"`
}

type simRecord struct{ Value string }

type simRecords []simRecord

// MarshalXML leaves an alias without the element of records.
func (r simRecords) MarshalXML(e *xml.Encoder, start xml.StartElement) error {
	if len(r) == 0 {
		return nil
	}
	return e.EncodeElement(struct {
		Records []simRecord `xml:"ResourceRecord"`
	}{r}, start)
}

// UnmarshalXML is its opposite.
func (r *simRecords) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	var in struct {
		Records []simRecord `xml:"ResourceRecord"`
	}
	err := d.DecodeElement(&in, &start)
	*r = in.Records
	return err
}

type simAlias struct {
	HostedZoneId, DNSName string
	EvaluateTargetHealth  bool
}

// plainZone is a public zone with what every one has from its beginning.
func plainZone(id, name string) *simZone {
	return &simZone{id: id, name: name, sets: []simSet{
		{Name: name, Type: "NS", TTL: "172800", Records: []simRecord{{"ns-1.awsdns-00.example."}, {"ns-2.awsdns-00.example."}}},
		{Name: name, Type: "SOA", TTL: "900", Records: []simRecord{{"ns-1.awsdns-00.example. awsdns-hostmaster.amazon.com. 1 7200 900 1209600 86400"}}},
	}}
}

var dnsPath = regexp.MustCompile(`^/2013-04-01/(hostedzonesbyname|hostedzone/([^/]+)(/rrset)?)$`)

// dnsAction names what a call of Route 53 does, as policies do; "" where there is no such thing.
func dnsAction(r *http.Request) string {
	m := dnsPath.FindStringSubmatch(r.URL.Path)
	if m == nil {
		return ""
	}
	switch {
	case r.Method == http.MethodGet && m[1] == "hostedzonesbyname":
		return "ListHostedZonesByName"
	case r.Method == http.MethodGet && m[3] == "":
		return "GetHostedZone"
	case r.Method == http.MethodGet:
		return "ListResourceRecordSets"
	case r.Method == http.MethodPost && m[3] != "":
		return "ChangeResourceRecordSets"
	}
	return ""
}

func (s *simulated) serveDNS(w http.ResponseWriter, r *http.Request, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out, err := describedDNS(r, body, s.dns)
	w.Header().Set("Content-Type", "text/xml")
	if err == nil {
		fmt.Fprint(w, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+out)
		return
	}
	e := err.(*refusal)
	answerDNS(w, map[string]int{"NoSuchHostedZone": http.StatusNotFound, "AccessDenied": http.StatusForbidden, "InvalidClientTokenId": http.StatusForbidden,
		"SignatureDoesNotMatch": http.StatusForbidden}[e.code], e.code, e.message, s.oneMessage)
}

// describedDNS refuses calls and answers that aren't as AWS models Route 53.
func describedDNS(r *http.Request, body []byte, do func(*http.Request, []byte) (string, error)) (string, error) {
	model, action := models()["route53"], dnsAction(r)
	if model == nil || action == "" {
		return do(r, body)
	}
	err := model.CheckURL(action, r.URL.Query())
	if err == nil && len(body) > 0 {
		err = model.CheckXML(action, string(body), true)
	}
	if err != nil {
		return "", no("InvalidInput", "%v", err)
	}
	out, err := do(r, body)
	if err != nil {
		return "", err
	}
	if err := model.CheckXML(action, out, false); err != nil {
		return "", no("InvalidInput", "The answer isn't as AWS models it: %v", err)
	}
	return out, nil
}

// answerDNS writes an error as Route 53 does. What is wrong with a batch has had two forms.
func answerDNS(w http.ResponseWriter, status int, code, message string, oneMessage bool) {
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(cmp.Or(status, http.StatusBadRequest))
	if code == "InvalidChangeBatch" && !oneMessage {
		fmt.Fprintf(w, `<?xml version="1.0"?><InvalidChangeBatch xmlns="%s"><Messages>`, dnsNamespace)
		for _, m := range strings.Split(message, "\n") {
			fmt.Fprint(w, el("Message", m))
		}
		fmt.Fprint(w, `</Messages><RequestId>r</RequestId></InvalidChangeBatch>`)
		return
	}
	if code == "InvalidChangeBatch" {
		message = "[" + strings.ReplaceAll(message, "\n", ", ") + "]"
	}
	fmt.Fprintf(w, `<?xml version="1.0"?><ErrorResponse xmlns="%s"><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>r</RequestId></ErrorResponse>`,
		dnsNamespace, code, text(message))
}

func (s *simulated) dns(r *http.Request, body []byte) (string, error) {
	action := dnsAction(r)
	if action == "" {
		return "", no("InvalidInput", "There is nothing at %s %s.", r.Method, r.URL.Path)
	}
	s.asked[action]++
	if err := s.signed(r, body, "route53", "us-east-1"); err != nil {
		if e := err.(*refusal); e.code == "AuthFailure" {
			return "", no("InvalidClientTokenId", "The security token included in the request is invalid.")
		}
		return "", err
	}
	on := "arn:aws:route53:::hostedzone/" + dnsPath.FindStringSubmatch(r.URL.Path)[2]
	if s.denied[action] {
		return "", no("AccessDenied", "User: arn:aws:iam::111111111111:user/muster is not authorized to perform: route53:%s on resource: %s because no identity-based policy allows the route53:%s action", action, on, action)
	}
	if e := s.refuse[action]; e != nil {
		return "", e
	}
	if action == "ListHostedZonesByName" {
		return s.listZones(r)
	}
	id := dnsPath.FindStringSubmatch(r.URL.Path)[2]
	i := slices.IndexFunc(s.zones, func(z *simZone) bool { return z.id == id })
	if i < 0 {
		return "", no("NoSuchHostedZone", "No hosted zone found with ID: %s", id)
	}
	switch action {
	case "GetHostedZone":
		return dnsAnswer("GetHostedZoneResponse", s.zones[i].xml()), nil
	case "ListResourceRecordSets":
		return s.listSets(r, s.zones[i])
	}
	if do := s.meanwhile; do != nil {
		s.meanwhile = nil
		do(s.zones[i])
	}
	if s.busy > 0 {
		s.busy--
		return "", no("PriorRequestNotComplete", "The request was rejected because Route 53 was still processing a prior request.")
	}
	return s.changeSets(body, s.zones[i])
}

func dnsAnswer(name string, content ...string) string {
	return "<" + name + ` xmlns="` + dnsNamespace + `">` + strings.Join(content, "") + "</" + name + ">"
}

func (z *simZone) xml() string {
	return el("HostedZone", el("Id", "/hostedzone/"+z.id), el("Name", z.name), el("CallerReference", "c"), el("Config", el("PrivateZone", strconv.FormatBool(z.private))),
		el("ResourceRecordSetCount", strconv.Itoa(len(z.sets))))
}

// values are sorted.
func (a simSet) values() (out []string) {
	for _, r := range a.Records {
		out = append(out, r.Value)
	}
	slices.Sort(out)
	return out
}

// sorted writes a name as Route 53 sorts by it: from its end.
func sorted(name string) string {
	labels := strings.Split(strings.TrimSuffix(name, "."), ".")
	slices.Reverse(labels)
	return strings.Join(labels, ".") + "."
}

// dotted returns a name with the dot at its end, which may be left out of a question.
func dotted(name string) string {
	if name == "" || strings.HasSuffix(name, ".") {
		return name
	}
	return name + "."
}

// limit reads how many a page may have; Route 53 returns as many at most, here it returns few.
func limit(text string, most int) (int, error) {
	n, err := most, error(nil)
	if text != "" {
		n, err = strconv.Atoi(text)
	}
	if err != nil || n < 1 {
		return 0, no("InvalidInput", "maxitems %q is no number", text)
	}
	return min(n, most), nil
}

// listZones returns two zones a page.
func (s *simulated) listZones(r *http.Request) (string, error) {
	q := r.URL.Query()
	n, err := limit(q.Get("maxitems"), 2)
	if err != nil {
		return "", err
	}
	if q.Get("hostedzoneid") != "" && q.Get("dnsname") == "" {
		return "", no("InvalidInput", "hostedzoneid goes with dnsname")
	}
	all := slices.Clone(s.zones)
	slices.SortFunc(all, func(a, b *simZone) int {
		return cmp.Or(cmp.Compare(sorted(a.name), sorted(b.name)), cmp.Compare(a.id, b.id))
	})
	all = slices.DeleteFunc(all, func(z *simZone) bool {
		from := cmp.Compare(sorted(z.name), sorted(dotted(q.Get("dnsname"))))
		return q.Get("dnsname") != "" && (from < 0 || from == 0 && z.id < q.Get("hostedzoneid"))
	})
	page, more := all[:min(n, len(all))], ""
	for _, z := range page {
		more += z.xml()
	}
	more = el("HostedZones", more) + el("MaxItems", strconv.Itoa(n))
	if len(all) > n {
		more += el("IsTruncated", "true") + el("NextDNSName", all[n].name) + el("NextHostedZoneId", all[n].id)
	} else {
		more += el("IsTruncated", "false")
	}
	return dnsAnswer("ListHostedZonesByNameResponse", more), nil
}

func (a simSet) compare(b simSet) int {
	return cmp.Or(cmp.Compare(sorted(a.Name), sorted(b.Name)), cmp.Compare(a.Type, b.Type), cmp.Compare(a.SetIdentifier, b.SetIdentifier))
}

// listSets returns three sets a page, unless the test wants more.
func (s *simulated) listSets(r *http.Request, z *simZone) (string, error) {
	q := r.URL.Query()
	n, err := limit(q.Get("maxitems"), cmp.Or(s.pageOfSets, 3))
	if err != nil {
		return "", err
	}
	if q.Get("type") != "" && q.Get("name") == "" {
		return "", no("InvalidInput", "The type is given without a name.")
	}
	from := simSet{Name: dotted(q.Get("name")), Type: q.Get("type"), SetIdentifier: q.Get("identifier")}
	all := slices.Clone(z.sets)
	slices.SortFunc(all, simSet.compare)
	if from.Name != "" {
		all = slices.DeleteFunc(all, func(a simSet) bool { return a.compare(from) < 0 })
	}
	var out struct {
		XMLName              xml.Name `xml:"ListResourceRecordSetsResponse"`
		Namespace            string   `xml:"xmlns,attr"`
		Sets                 []simSet `xml:"ResourceRecordSets>ResourceRecordSet"`
		IsTruncated          bool
		NextRecordName       string `xml:",omitempty"`
		NextRecordType       string `xml:",omitempty"`
		NextRecordIdentifier string `xml:",omitempty"`
		MaxItems             int
	}
	out.Namespace, out.MaxItems, out.Sets = dnsNamespace, n, all[:min(n, len(all))]
	if len(all) > n {
		out.IsTruncated, out.NextRecordName, out.NextRecordType, out.NextRecordIdentifier = true, all[n].Name, all[n].Type, all[n].SetIdentifier
	}
	b, err := xml.Marshal(out)
	return string(b), err
}

// changeSets makes a batch of changes, all of them or none.
func (s *simulated) changeSets(body []byte, z *simZone) (string, error) {
	var in struct {
		XMLName xml.Name `xml:"https://route53.amazonaws.com/doc/2013-04-01/ ChangeResourceRecordSetsRequest"`
		Changes []struct {
			Action string
			Set    simSet `xml:"ResourceRecordSet"`
		} `xml:"ChangeBatch>Changes>Change"`
	}
	if err := xml.Unmarshal(body, &in); err != nil || len(in.Changes) == 0 {
		return "", no("InvalidInput", "Invalid XML ; %v", err)
	}
	next, wrong := slices.Clone(z.sets), []string{}
	for _, c := range in.Changes {
		c.Set.Name = dotted(strings.ToLower(c.Set.Name))
		if err := z.valid(c.Set); err != "" {
			wrong = append(wrong, err)
			continue
		}
		i := slices.IndexFunc(next, func(o simSet) bool { return o.compare(c.Set) == 0 })
		called := fmt.Sprintf("resource record set [name='%s', type='%s']", c.Set.Name, c.Set.Type)
		switch {
		case c.Action == "DELETE" && i < 0:
			wrong = append(wrong, "Tried to delete "+called+" but it was not found")
		case c.Action == "DELETE" && !next[i].equal(c.Set):
			wrong = append(wrong, "Tried to delete "+called+" but the values provided do not match the current values")
		case c.Action == "DELETE":
			next = slices.Delete(next, i, i+1)
		case c.Action == "CREATE" && i >= 0:
			wrong = append(wrong, "Tried to create "+called+" but it already exists")
		case c.Action != "CREATE" && c.Action != "UPSERT":
			return "", no("InvalidInput", "Invalid action %q", c.Action)
		case slices.ContainsFunc(next, func(o simSet) bool { return o.Name == c.Set.Name && o.Type == "CNAME" }) && c.Set.Type != "CNAME":
			wrong = append(wrong, fmt.Sprintf("RRSet of type %s with DNS name %s is not permitted because a conflicting RRSet of type CNAME with the same DNS name already exists in zone %s", c.Set.Type, c.Set.Name, z.name))
		case slices.ContainsFunc(next, func(o simSet) bool {
			return o.Name == c.Set.Name && o.Type == c.Set.Type && (o.SetIdentifier == "") != (c.Set.SetIdentifier == "")
		}):
			wrong = append(wrong, fmt.Sprintf("RRSet with DNS name %s, type %s cannot be created as weighted sets exist with the same name and type.", c.Set.Name, c.Set.Type))
		case i >= 0:
			next[i] = c.Set
		default:
			next = append(next, c.Set)
		}
	}
	if len(wrong) > 0 {
		return "", no("InvalidChangeBatch", "%s", strings.Join(wrong, "\n"))
	}
	z.sets = next
	s.batches = append(s.batches, len(in.Changes))
	return dnsAnswer("ChangeResourceRecordSetsResponse", el("ChangeInfo", el("Id", "/change/C1"), el("Status", "PENDING"), el("SubmittedAt", "2026-01-02T03:04:05Z"))), nil
}

// valid tells what is wrong with a set by itself; "" where nothing is.
func (z *simZone) valid(a simSet) string {
	invalid := fmt.Sprintf("Invalid Resource Record: FATAL problem: %%s encountered with %q", a.values())
	ttl, err := strconv.Atoi(a.TTL)
	switch {
	case !strings.HasSuffix(a.Name, "."+z.name):
		return fmt.Sprintf("RRSet with DNS name %s is not permitted in zone %s", a.Name, z.name)
	case len(a.Records) == 0 && a.Alias == nil:
		return "Invalid request: Missing field 'ResourceRecords' in Change"
	case err != nil || ttl < 0:
		return "Invalid request: Missing field 'TTL' in Change"
	}
	for _, v := range a.values() {
		ip, err := netip.ParseAddr(v)
		switch {
		case a.Type == "TXT" && (len(v) < 2 || v[0] != '"' || v[len(v)-1] != '"'):
			return fmt.Sprintf(invalid, "InvalidCharacterString (Value should be enclosed in quotation marks)")
		case a.Type == "TXT" && (len(v) > 257 || strings.ContainsAny(v[1:len(v)-1], `"\`)):
			return fmt.Sprintf(invalid, "CharacterStringTooLong (Value is too long)")
		case a.Type == "A" && (err != nil || !ip.Is4()), a.Type == "AAAA" && (err != nil || !ip.Is6()):
			return fmt.Sprintf(invalid, "ARRDATAIllegalIPv4Address (Value is not a valid IP address)")
		}
	}
	return ""
}

// equal reports whether a set is exactly the existing one: of a deletion, all has to be named again.
func (a simSet) equal(b simSet) bool {
	return a.TTL == b.TTL && slices.Equal(a.values(), b.values()) && a.Weight == b.Weight && (a.Alias == nil) == (b.Alias == nil)
}

// named returns what a name leads to in the suite's zone, and take puts something there.
func (r *testRegion) named(name string) (out []string) {
	r.sim.mu.Lock()
	defer r.sim.mu.Unlock()
	for _, s := range r.sim.zones[0].sets {
		for _, v := range s.values() {
			if s.Name == name+"." {
				out = append(out, s.Type+" "+v)
			}
		}
		if s.Name == name+"." && s.Alias != nil {
			out = append(out, s.Type+" alias of "+s.Alias.DNSName)
		}
	}
	slices.Sort(out)
	return out
}

func (r *testRegion) take(name, kind, data string) {
	r.put(simSet{Name: name + ".", Type: kind, TTL: "300", Records: []simRecord{{data}}})
}

func (r *testRegion) put(s simSet) {
	r.sim.mu.Lock()
	defer r.sim.mu.Unlock()
	r.sim.zones[0].sets = append(r.sim.zones[0].sets, s)
}
