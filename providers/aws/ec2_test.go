package aws

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"muster/providers/aws/internal/servicemodel"
)

// simulated is the EC2 Query API of one region, with STS and Route 53 behind it, in memory. It checks signatures, and answers in EC2's own XML and words.
type simulated struct {
	mu       sync.Mutex
	region   string
	keys     map[string]key // by access key ID
	lag      time.Duration  // how long what was made is not known
	boot     time.Duration  // how long instances are pending
	stop     time.Duration  // how long they are stopping
	down     time.Duration  // how long they are shutting down
	next     int
	machines []*simInstance
	tokens   map[string]tokenUse
	groups   []*simGroup
	subnets  []*simSubnet
	images   []simImage
	disks    []*simDisk
	copies   []*simCopy
	spoil    int // so many snapshots end in error
	kinds    []simKind
	profiles []string
	placed   []string // placement groups
	denied   map[string]bool
	refuse   map[string]*refusal // by action
	noSpot   bool
	// failedAtStart is the reason for which instances end as soon as they are made; "" lets them live.
	failedAtStart string
	asked         map[string]int // by action
	external      string         // what the role to assume requires
	zones         []*simZone     // of Route 53; the first is the suite's
	busy          int            // how many changes of zones come while another is made
	oneMessage    bool           // what is wrong with a batch is reported in the form of other errors
	// meanwhile is what someone else does to a zone just before the next change of it.
	meanwhile  func(*simZone)
	pageOfSets int   // how many sets a page has; 3 where it is 0
	batches    []int // how many changes each batch had
}

type key struct{ secret, session string }

type tokenUse struct{ print, id string }

type refusal struct{ code, message string }

func (r *refusal) Error() string { return r.code + ": " + r.message }

func no(code, format string, args ...any) error {
	return &refusal{code, fmt.Sprintf(format, args...)}
}

type simSubnet struct {
	id, vpc, zone string
	byDefault     bool
	free          int
}

type simImage struct {
	id, name, owner, arch, state, root, made string
	size                                     int
	more                                     []string // devices of other disks
	tags                                     map[string]string
	at                                       time.Time // when it was made of an instance
	copy                                     string    // the snapshot of such an image
}

type simKind struct {
	name   string
	arch   string
	cpu    int
	mib    int
	zones  []string
	stored bool // has disks of its own
	xen    bool
	noSpot bool
	gpus   int
}

func simulate() *simulated {
	s := &simulated{region: "eu-test-1", keys: map[string]key{"AKIDGOOD": {secret: "good/secret+1"}, "AKIDTEMP": {secret: "temp/secret", session: "session+token="}},
		tokens: map[string]tokenUse{}, denied: map[string]bool{}, refuse: map[string]*refusal{}, asked: map[string]int{},
		lag: 20 * time.Millisecond, boot: 20 * time.Millisecond, stop: 20 * time.Millisecond, down: 20 * time.Millisecond,
		profiles: []string{"workers"}, placed: []string{"close"}, external: "tell-me"}
	for _, z := range []string{"a", "b", "c"} {
		s.subnets = append(s.subnets, &simSubnet{id: "subnet-0000000" + z, vpc: "vpc-0000000d", zone: s.region + z, byDefault: true, free: 250})
	}
	s.subnets = append(s.subnets, &simSubnet{id: "subnet-1111111a", vpc: "vpc-1111111d", zone: s.region + "a", free: 3})
	s.groups = []*simGroup{{id: "sg-0000000d", name: "default", vpc: "vpc-0000000d", own: true}, {id: "sg-1111111d", name: "default", vpc: "vpc-1111111d", own: true},
		{id: "sg-0000000e", name: "office", vpc: "vpc-0000000d", own: true}}
	s.images = []simImage{
		{id: "ami-0000000a", name: "base-1", owner: "111111111111", arch: "x86_64", state: "available", root: "/dev/xvda", size: 8, made: "2026-01-02T00:00:00.000Z"},
		{id: "ami-0000000b", name: "base-2", owner: "111111111111", arch: "x86_64", state: "available", root: "/dev/sda1", size: 10, made: "2026-03-02T00:00:00.000Z", more: []string{"/dev/sdf"}},
		{id: "ami-0000000c", name: "base-arm", owner: "111111111111", arch: "arm64", state: "available", root: "/dev/xvda", size: 8, made: "2026-01-03T00:00:00.000Z"},
		{id: "ami-0000000d", name: "base-3", owner: "111111111111", arch: "x86_64", state: "pending", root: "/dev/xvda", size: 8, made: "2026-06-03T00:00:00.000Z"},
		{id: "ami-1000000a", name: "debian-12-amd64-20260101-1", owner: debian, arch: "x86_64", state: "available", root: "/dev/xvda", size: 8, made: "2026-01-01T00:00:00.000Z"},
		{id: "ami-1000000b", name: "debian-12-amd64-20260401-2", owner: debian, arch: "x86_64", state: "available", root: "/dev/xvda", size: 8, made: "2026-04-01T00:00:00.000Z"},
		{id: "ami-6666666a", name: "debian-12-amd64-20270101-1", owner: "666666666666", arch: "x86_64", state: "available", root: "/dev/xvda", size: 8, made: "2027-01-01T00:00:00.000Z"},
	}
	s.zones = []*simZone{plainZone("Z00000001", "suite.test."), plainZone("Z00000002", "other.test."), plainZone("Z00000003", "twice.test."), plainZone("Z00000004", "twice.test."), plainZone("Z00000005", "hidden.test.")}
	s.zones[3].private, s.zones[4].private = true, true
	all := []string{s.region + "a", s.region + "b", s.region + "c"}
	s.kinds = []simKind{{name: "t9.small", arch: "x86_64", cpu: 2, mib: 2048, zones: all}, {name: "t9g.small", arch: "arm64", cpu: 2, mib: 2048, zones: all},
		{name: "d9.large", arch: "x86_64", cpu: 4, mib: 16384, zones: all[:1], stored: true}, {name: "n9.large", arch: "x86_64", cpu: 4, mib: 8192,
			zones: all[1:], noSpot: true},
		{name: "g9.large", arch: "x86_64", cpu: 4, mib: 16384, zones: all, gpus: 2},
		{name: "t2.small", arch: "x86_64", cpu: 1, mib: 2048, zones: all, xen: true}}
	for i := range 240 {
		s.kinds = append(s.kinds, simKind{name: fmt.Sprintf("m%d.large", i+10), arch: "x86_64", cpu: 2, mib: 8192, zones: all})
	}
	return s
}

func (s *simulated) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if strings.HasPrefix(r.URL.Path, "/2013-04-01/") {
		s.serveDNS(w, r, body)
		return
	}
	f, err := url.ParseQuery(string(body))
	action := f.Get("Action")
	if err != nil || r.Method != http.MethodPost || action == "" {
		answerError(w, http.StatusBadRequest, "InvalidAction", "The action is not valid for this web service.")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[action]++
	out, err := s.answer(r, body, action, f)
	if err == nil {
		w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
		fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><%[1]sResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>r</requestId>%[2]s</%[1]sResponse>`, action, out)
		return
	}
	e := err.(*refusal)
	status := http.StatusBadRequest
	switch e.code {
	case "AuthFailure", "RequestExpired", "InvalidClientTokenId":
		status = http.StatusUnauthorized
	case "UnauthorizedOperation", "AccessDenied", "OptInRequired", "Blocked":
		status = http.StatusForbidden
	case "DryRunOperation":
		status = http.StatusPreconditionFailed
	case "InsufficientInstanceCapacity", "InternalError":
		status = http.StatusInternalServerError
	}
	if action == "AssumeRole" {
		w.WriteHeader(status)
		fmt.Fprintf(w, `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>r</RequestId></ErrorResponse>`, e.code, text(e.message))
		return
	}
	answerError(w, status, e.code, e.message)
}

func answerError(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
	w.WriteHeader(status)
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Response><Errors><Error><Code>%s</Code><Message>%s</Message></Error></Errors><RequestID>r</RequestID></Response>`, code, text(message))
}

func (s *simulated) answer(r *http.Request, body []byte, action string, f url.Values) (string, error) {
	service, version := "ec2", "2016-11-15"
	if action == "AssumeRole" {
		service, version = "sts", "2011-06-15"
	}
	if err := s.signed(r, body, service, s.region); err != nil {
		return "", err
	}
	if f.Get("Version") != version {
		return "", no("InvalidParameterValue", "The version %q is not known.", f.Get("Version"))
	}
	if s.denied[action] {
		return "", no("UnauthorizedOperation", "You are not authorized to perform this operation. User: arn:aws:iam::111111111111:user/muster is not authorized to perform: ec2:%s because no identity-based policy allows the ec2:%s action. Encoded authorization failure message: %s", action, action, strings.Repeat("x", 300))
	}
	if e := s.refuse[action]; e != nil {
		return "", e
	}
	do, ok := map[string]func(url.Values) (string, error){
		"RunInstances": s.runInstances, "DescribeInstances": s.describeInstances, "TerminateInstances": s.terminateInstances, "StopInstances": s.stopInstances, "StartInstances": s.startInstances,
		"CreateTags": s.createTags, "DeleteTags": s.deleteTags,
		"DescribeImages": s.describeImages, "DescribeInstanceTypes": s.describeInstanceTypes, "DescribeInstanceTypeOfferings": s.describeOfferings,
		"DescribeAvailabilityZones": s.describeZones, "DescribePlacementGroups": s.describePlacements, "DescribeSubnets": s.describeSubnets, "DescribeSpotInstanceRequests": s.describeSpotRequests,
		"DescribeSecurityGroups": s.describeGroups, "CreateSecurityGroup": s.createGroup, "DeleteSecurityGroup": s.deleteGroup,
		"AuthorizeSecurityGroupIngress": s.authorize, "RevokeSecurityGroupIngress": s.revoke, "ModifyNetworkInterfaceAttribute": s.modifyInterface, "AssumeRole": s.assumeRole,
		"CreateVolume": s.createVolume, "DescribeVolumes": s.describeVolumes, "AttachVolume": s.attachVolume,
		"DetachVolume": s.detachVolume, "DeleteVolume": s.deleteVolume,
		"CreateImage": s.createImage, "DeregisterImage": s.deregisterImage,
		"CreateSnapshot": s.createSnapshot, "DescribeSnapshots": s.describeSnapshots, "DeleteSnapshot": s.deleteSnapshot,
	}[action]
	if !ok {
		return "", no("InvalidAction", "The action %s is not valid for this web service.", action)
	}
	if service != "ec2" {
		return do(f)
	}
	return described(action, f, do)
}

// described refuses calls and answers that aren't as AWS models EC2.
func described(action string, f url.Values, do func(url.Values) (string, error)) (string, error) {
	model := models()["ec2"]
	if model == nil {
		return do(f)
	}
	if err := model.CheckQuery(action, f); err != nil {
		return "", no("UnknownParameter", "%v", err)
	}
	out, err := do(f)
	if err != nil {
		return "", err
	}
	if err := model.CheckXML(action, el("answer", out), false); err != nil {
		return "", no("UnknownParameter", "The answer isn't as AWS models it: %v", err)
	}
	return out, nil
}

// models has AWS's models of services; none where they aren't installed, but in CI they must be.
var models = sync.OnceValue(func() map[string]*servicemodel.Service {
	out := map[string]*servicemodel.Service{}
	for service, version := range map[string]string{"ec2": "2016-11-15", "route53": "2013-04-01"} {
		m, err := servicemodel.Load(servicemodel.Dir, service, version)
		if err != nil && (!errors.Is(err, os.ErrNotExist) || os.Getenv("CI") == "true") {
			panic(fmt.Sprintf("%v: install the package python3-botocore, as deploy/ci/setup.sh does", err))
		}
		if err == nil {
			out[service] = m
		}
	}
	return out
})

var authorization = regexp.MustCompile(`^AWS4-HMAC-SHA256 Credential=([A-Z0-9]+)/(\d{8})/([a-z0-9-]+)/([a-z0-9]+)/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=[0-9a-f]{64}$`)

// signed checks a call's signature by making it again.
func (s *simulated) signed(r *http.Request, body []byte, service, region string) error {
	m := authorization.FindStringSubmatch(r.Header.Get("Authorization"))
	if m == nil {
		return no("MissingAuthenticationToken", "Request is missing Authentication Token")
	}
	if m[3] != region || m[4] != service {
		return no("AuthFailure", "Credential should be scoped to a valid region.")
	}
	const unknown = "AWS was not able to validate the provided access credentials"
	k, ok := s.keys[m[1]]
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if !ok || err != nil || r.Header.Get("X-Amz-Security-Token") != k.session {
		return no("AuthFailure", unknown)
	}
	if d := time.Since(at); d > 5*time.Minute || d < -5*time.Minute {
		return no("RequestExpired", "Request has expired.")
	}
	again, _ := http.NewRequest(r.Method, "http://"+r.Host+r.URL.RequestURI(), bytes.NewReader(body))
	for _, h := range strings.Split(m[5], ";") {
		if h != "host" && h != "content-length" && h != "x-amz-security-token" {
			again.Header.Set(h, r.Header.Get(h))
		}
	}
	if err := v4.NewSigner().SignHTTP(r.Context(), sdk.Credentials{AccessKeyID: m[1], SecretAccessKey: k.secret, SessionToken: k.session}, again, hash(body), service, region, at); err != nil {
		return no("InternalError", "%v", err)
	}
	if again.Header.Get("Authorization") != r.Header.Get("Authorization") {
		return no("AuthFailure", unknown)
	}
	return nil
}

func (s *simulated) assumeRole(f url.Values) (string, error) {
	if f.Get("RoleArn") != "arn:aws:iam::222222222222:role/muster" || f.Get("ExternalId") != s.external || f.Get("RoleSessionName") == "" {
		return "", no("AccessDenied", "User: arn:aws:iam::111111111111:user/muster is not authorized to perform: sts:AssumeRole on resource: %s", f.Get("RoleArn"))
	}
	s.keys["ASIAROLE"] = key{secret: "role/secret", session: "role+session"}
	return el("AssumeRoleResult", el("Credentials", el("AccessKeyId", "ASIAROLE"), el("SecretAccessKey", "role/secret"), el("SessionToken", "role+session"),
		el("Expiration", stamp(time.Now().Add(time.Hour))))), nil
}

// id makes up one that EC2 could have.
func (s *simulated) id(kind string) string {
	s.next++
	return fmt.Sprintf("%s-%017x", kind, 0xabc0000+s.next)
}

// el writes an element, whose content is XML already where it begins with an element.
func el(name string, content ...string) string {
	all := strings.Join(content, "")
	if !strings.HasPrefix(all, "<") {
		all = text(all)
	}
	return "<" + name + ">" + all + "</" + name + ">"
}

func items(name string, of []string) string {
	var b strings.Builder
	for _, i := range of {
		b.WriteString("<item>" + i + "</item>")
	}
	return "<" + name + ">" + b.String() + "</" + name + ">"
}

func text(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// list reads Name.1, Name.2 and so on.
func list(f url.Values, name string) (out []string) {
	for i := 1; f.Has(name + "." + strconv.Itoa(i)); i++ {
		out = append(out, f.Get(name+"."+strconv.Itoa(i)))
	}
	return out
}

// each calls for Name.1, Name.2 and so on, with what each of them holds.
func each(f url.Values, name string, do func(get func(string) string, sub url.Values)) {
	for i := 1; ; i++ {
		prefix := name + "." + strconv.Itoa(i) + "."
		sub := url.Values{}
		for k, v := range f {
			if rest, ok := strings.CutPrefix(k, prefix); ok {
				sub[rest] = v
			}
		}
		if len(sub) == 0 {
			return
		}
		do(sub.Get, sub)
	}
}

func tagsIn(f url.Values) map[string]string {
	out := map[string]string{}
	each(f, "Tag", func(get func(string) string, _ url.Values) { out[get("Key")] = get("Value") })
	return out
}

func tagSet(tags map[string]string) string {
	var out []string
	for k, v := range tags {
		out = append(out, el("key", k)+el("value", v))
	}
	slices.Sort(out)
	return items("tagSet", out)
}

// filtered reports whether something passes the call's filters; get returns the values of one, or that there is no such filter.
func filtered(f url.Values, tags map[string]string, get func(name string) (string, bool)) (ok bool, err error) {
	ok = true
	each(f, "Filter", func(of func(string) string, sub url.Values) {
		name, values := of("Name"), list(sub, "Value")
		if len(values) == 0 || slices.Contains(values, "") {
			err = no("InvalidParameterValue", "The filter '%s' has no value.", name)
			return
		}
		var has []string
		if k, tag := strings.CutPrefix(name, "tag:"); tag {
			if v, set := tags[k]; set {
				has = []string{v}
			}
		} else if name == "tag-key" {
			for k := range tags {
				has = append(has, k)
			}
		} else if v, known := get(name); known {
			has = []string{v}
		} else {
			err = no("InvalidParameterValue", "The filter '%s' is invalid", name)
			return
		}
		ok = ok && slices.ContainsFunc(has, func(v string) bool {
			return slices.ContainsFunc(values, func(p string) bool { return pattern(p).MatchString(v) })
		})
	})
	return ok && err == nil, err
}

// pattern reads EC2's: * and ?, and a backslash before what is meant as it is.
func pattern(p string) *regexp.Regexp {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		switch {
		case p[i] == '\\' && i+1 < len(p):
			i++
			b.WriteString(regexp.QuoteMeta(p[i : i+1]))
		case p[i] == '*':
			b.WriteString(".*")
		case p[i] == '?':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(p[i : i+1]))
		}
	}
	return regexp.MustCompile("(?s)^" + b.String() + "$")
}

// paged returns one page, in the form of EC2's lists.
func paged(f url.Values, name string, all []string, least, most int) (string, error) {
	from, size := 0, most
	if t := f.Get("NextToken"); t != "" {
		b, err := base64.StdEncoding.DecodeString(t)
		if from, _ = strconv.Atoi(string(b)); err != nil || from <= 0 {
			return "", no("InvalidNextToken", "The token '%s' is invalid", t)
		}
	}
	if m := f.Get("MaxResults"); m != "" {
		n, err := strconv.Atoi(m)
		if err != nil || n < least || n > most {
			return "", no("InvalidParameterValue", "Value ( %s ) for parameter maxResults is invalid. Expecting a value between %d and %d.", m, least, most)
		}
		size = n
	}
	from = min(from, len(all))
	to := min(from+size, len(all))
	out := items(name, all[from:to])
	if to < len(all) {
		out += el("nextToken", base64.StdEncoding.EncodeToString([]byte(strconv.Itoa(to))))
	}
	return out, nil
}

func dry(f url.Values) error {
	if f.Get("DryRun") == "true" {
		return no("DryRunOperation", "Request would have succeeded, but DryRun flag is set.")
	}
	return nil
}
