package azure

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	computefake "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"
	networkfake "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7/fake"
)

// The simulated Azure. Requests come over real HTTPS; the SDK's own fakes take them apart and write answers, and this is what they lack: state, operations that
// take several looks, and what Resource Manager refuses. It's also stricter: a field that the SDK's model doesn't know, or a request without a version, fails.

const (
	simDirectory    = "11111111-1111-4111-8111-111111111111"
	simClient       = "22222222-2222-4222-8222-222222222222"
	simSecret       = "the-secret~value"
	simSubscription = "33333333-3333-4333-8333-333333333333"
	simGroup        = "muster-rg"
	simLocation     = "westeurope"
	simSize         = "Standard_B2s"
	simImage        = "Debian:debian-12:12-gen2:latest"
)

// simError is a refusal.
type simError struct {
	status        int
	code, message string
}

// operation is something that takes a while: so many looks.
type operation struct {
	left int
	end  func() *simError
	err  *simError
	on   string // the resource
}

// things are resources of one kind, by name in small letters.
type things[T any] struct {
	kind   string
	is     map[string]*T
	since  map[string]time.Time
	buried []buried[T]
}

type buried[T any] struct {
	thing *T
	at    time.Time
}

func newThings[T any](kind string) *things[T] {
	return &things[T]{kind: kind, is: map[string]*T{}, since: map[string]time.Time{}}
}

func (x *things[T]) put(name string, thing *T) {
	name = strings.ToLower(name)
	if x.is[name] == nil {
		x.since[name] = time.Now()
	}
	x.is[name] = thing
}

func (x *things[T]) drop(name string) {
	name = strings.ToLower(name)
	if thing := x.is[name]; thing != nil {
		x.buried = append(x.buried, buried[T]{thing, time.Now()})
		delete(x.is, name)
	}
}

// list returns what a list shows that lags behind.
func (x *things[T]) list(lag time.Duration) []*T {
	var out []*T
	for _, name := range slices.Sorted(keysOf(x.is)) {
		if time.Since(x.since[name]) >= lag {
			out = append(out, x.is[name])
		}
	}
	for _, b := range x.buried {
		if time.Since(b.at) < lag {
			out = append(out, b.thing)
		}
	}
	return out
}

func keysOf[T any](m map[string]T) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

type sim struct {
	mu        sync.Mutex
	secret    string
	signIn    string // what Entra ID answers instead of a token
	group     string
	vms       *things[armcompute.VirtualMachine]
	disks     *things[armcompute.Disk]
	cards     *things[armnetwork.Interface]
	ips       *things[armnetwork.PublicIPAddress]
	walls     *things[armnetwork.SecurityGroup]
	members   *things[armnetwork.ApplicationSecurityGroup]
	records   map[string]*recordSet // by type and name
	ops       []*operation
	nextIP    int
	lag       time.Duration
	page      int
	looks     int                  // that an operation takes
	refuse    map[string]*simError // by method and kind, such as PUT virtualMachines
	fails     map[string]*simError // operations that end so
	failPower string               // the power state of machines that couldn't be made
	spotOnly  bool                 // fails and refuse hold for spot machines only
	reserved  map[string]bool      // interfaces that are kept for a machine
	denied    map[string]bool      // actions that the role lacks
	usage     map[string][2]int
	sizes     map[string]*armcompute.ResourceSKU
	images    map[string]bool
	subnets   map[string]bool // whether it has a security group
	zones     map[string]bool
	requests  []string
	wrong     []string // what the real one would have taken badly
	last      armcompute.VirtualMachine
	prices    simPrices // locks for itself: machines are made while a list hangs
}

func newSim() *sim {
	s := &sim{secret: simSecret, group: simGroup, vms: newThings[armcompute.VirtualMachine]("Microsoft.Compute/virtualMachines"),
		disks: newThings[armcompute.Disk]("Microsoft.Compute/disks"), cards: newThings[armnetwork.Interface](kindCard),
		ips: newThings[armnetwork.PublicIPAddress](kindAddress), walls: newThings[armnetwork.SecurityGroup](kindWall),
		members: newThings[armnetwork.ApplicationSecurityGroup](kindMembers), records: map[string]*recordSet{}, page: 3, looks: 3,
		refuse: map[string]*simError{}, fails: map[string]*simError{}, reserved: map[string]bool{}, denied: map[string]bool{},
		images:  map[string]bool{"Debian/debian-12/12-gen2": true},
		subnets: map[string]bool{"vnet/default": true}, zones: map[string]bool{"suite.test": true},
		usage: map[string][2]int{"cores": {0, 100}, "standardBSFamily": {0, 50}, "lowPriorityCores": {0, 50}, "virtualMachines": {0, 25000},
			"StandardSkuPublicIpAddresses": {0, 100}, "NetworkInterfaces": {0, 1000}},
	}
	s.prices.items, s.prices.page = simList(), 3
	s.sizes = map[string]*armcompute.ResourceSKU{simSize: sizeOf(simSize, "standardBSFamily", "2", "4", "1", "2", "3"),
		"Standard_D4s_v5": sizeOf("Standard_D4s_v5", "standardDSv5Family", "4", "16", "1", "2"), "Standard_B2ts_v2": sizeOf("Standard_B2ts_v2", "standardBsv2Family", "2", "1")}
	return s
}

func sizeOf(name, family, cpus, memory string, zones ...string) *armcompute.ResourceSKU {
	z := []*string{}
	for _, n := range zones {
		z = append(z, ref(n))
	}
	return &armcompute.ResourceSKU{Name: &name, ResourceType: ref("virtualMachines"), Family: &family, Locations: []*string{ref(simLocation)},
		LocationInfo: []*armcompute.ResourceSKULocationInfo{{Location: ref(simLocation), Zones: z}},
		Capabilities: []*armcompute.ResourceSKUCapabilities{{Name: ref("vCPUs"), Value: &cpus}, {Name: ref("MemoryGB"), Value: &memory}, {Name: ref("PremiumIO"), Value: ref("True")},
			{Name: ref("LowPriorityCapable"), Value: ref("True")}}}
}

// call is one request on its way through a fake.
type call struct {
	op  *operation
	err *simError
}

type callKey struct{}

func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

func landed[T any](status int, v T) (p azfake.PollerResponder[T]) {
	p.SetTerminalResponse(status, v, nil)
	return p
}

func said[T any](v T) (r azfake.Responder[T]) {
	r.SetResponse(http.StatusOK, v, nil)
	return r
}

func paged[T any](v T) (p azfake.PagerResponder[T]) {
	p.AddPage(http.StatusOK, v, nil)
	return p
}

// no has a fake refuse.
func no(ctx context.Context, status int, code, format string, args ...any) (e azfake.ErrorResponder) {
	callOf(ctx).err = &simError{status, code, fmt.Sprintf(format, args...)}
	e.SetResponseError(status, code)
	return e
}

var (
	groupPath = regexp.MustCompile(`^/subscriptions/([^/]+)/resourceGroups/([^/]+)(?:/providers/Microsoft\.(Compute|Network)/(\w+)(?:/([^/]+)(?:/(\w+))?)?)?$`)
	listPath  = regexp.MustCompile(`^/subscriptions/([^/]+)/providers/Microsoft\.(Compute|Network)/(?:(virtualMachines|skus|images)|locations/(\w+)/(usages|operations)(?:/(\d+))?)$`)
	imagePath = regexp.MustCompile(`^/subscriptions/[^/]+/providers/Microsoft\.Compute/locations/\w+/publishers/[^/]+/artifacttypes/vmimage/offers/[^/]+/skus/[^/]+/versions(/[^/]+)?$`)
)

// clients of the SDK, by the kind of resource.
var clients = map[string]string{"virtualMachines": "VirtualMachinesClient", "disks": "DisksClient", "images": "ImagesClient", "networkInterfaces": "InterfacesClient",
	"publicIPAddresses": "PublicIPAddressesClient", "networkSecurityGroups": "SecurityGroupsClient", "applicationSecurityGroups": "ApplicationSecurityGroupsClient"}

// models are what bodies are read into.
var models = map[string]func() any{
	"PUT virtualMachines": func() any { return &armcompute.VirtualMachine{} }, "PATCH virtualMachines": func() any { return &armcompute.VirtualMachineUpdate{} },
	"PUT networkInterfaces": func() any { return &armnetwork.Interface{} }, "PUT publicIPAddresses": func() any { return &armnetwork.PublicIPAddress{} },
	"PATCH publicIPAddresses": func() any { return &armnetwork.TagsObject{} }, "PUT networkSecurityGroups": func() any { return &armnetwork.SecurityGroup{} },
	"PUT applicationSecurityGroups": func() any { return &armnetwork.ApplicationSecurityGroup{} },
}

func (s *sim) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if host, _, _ := strings.Cut(r.Host, ":"); host == "prices.azure.com" {
		s.prices.ServeHTTP(w, r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.HasPrefix(r.URL.Path, "/"+simDirectory+"/") {
		s.token(w, r)
		return
	}
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	switch {
	case r.Header.Get("Authorization") != "Bearer token-of-"+s.secret:
		answerError(w, &simError{401, "InvalidAuthenticationToken", "The access token is invalid."})
	case r.URL.Query().Get("api-version") == "":
		answerError(w, &simError{400, "MissingApiVersionParameter", "The api-version query parameter (?api-version=) is required for all requests."})
	case !strings.HasPrefix(r.URL.Path, "/subscriptions/"+simSubscription+"/"):
		answerError(w, &simError{404, "SubscriptionNotFound", "The subscription could not be found."})
	default:
		s.route(w, r)
	}
}

func (s *sim) route(w http.ResponseWriter, r *http.Request) {
	if s.generic(w, r) {
		return
	}
	api, kind := "", ""
	m, l := groupPath.FindStringSubmatch(r.URL.Path), listPath.FindStringSubmatch(r.URL.Path)
	switch {
	case l != nil && l[6] != "":
		s.look(w, l[6])
		return
	case l != nil && l[3] == "skus":
		api, kind = "ResourceSKUsClient.NewListPager", "skus"
	case l != nil && l[3] == "virtualMachines":
		api, kind = "VirtualMachinesClient.NewListAllPager", "allVirtualMachines"
	case l != nil && l[5] == "usages":
		api, kind = map[string]string{"Compute": "UsageClient", "Network": "UsagesClient"}[l[2]]+".NewListPager", "usages"
	case imagePath.MatchString(r.URL.Path):
		kind = "vmimage"
		if api = "VirtualMachineImagesClient.List"; imagePath.FindStringSubmatch(r.URL.Path)[1] != "" {
			api = "VirtualMachineImagesClient.Get"
		}
	case m != nil && !strings.EqualFold(m[2], s.group):
		answerError(w, &simError{404, "ResourceGroupNotFound", "Resource group '" + m[2] + "' could not be found."})
		return
	case m != nil && clients[m[4]] != "":
		kind = m[4]
		api = clients[kind] + "." + apiOf(r.Method, m[5], m[6], kind)
	}
	if api == "" {
		s.wrong = append(s.wrong, "no such API: "+r.Method+" "+r.URL.Path)
		answerError(w, &simError{404, "InvalidResourceType", "The resource type could not be found."})
		return
	}
	action := r.Method + " " + kind
	if e := s.refuse[action]; e != nil && kind != "virtualMachines" { // those are refused by createVM
		answerError(w, e)
		return
	}
	if s.denied[action] {
		answerError(w, &simError{403, "AuthorizationFailed", "The client does not have authorization to perform action '" + action + "'."})
		return
	}
	if e := s.strict(r, action); e != nil {
		s.wrong = append(s.wrong, e.message)
		answerError(w, e)
		return
	}
	s.dispatch(w, r, api)
}

func apiOf(method, name, verb, kind string) string {
	switch {
	case method == http.MethodGet && name == "":
		if kind == "images" {
			return "NewListByResourceGroupPager"
		}
		return "NewListPager"
	case method == http.MethodGet:
		return "Get"
	case method == http.MethodPut:
		return "BeginCreateOrUpdate"
	case method == http.MethodDelete:
		return "BeginDelete"
	case method == http.MethodPatch && kind == "virtualMachines":
		return "BeginUpdate"
	case method == http.MethodPatch:
		return "UpdateTags"
	case verb == "start":
		return "BeginStart"
	case verb == "deallocate":
		return "BeginDeallocate"
	}
	return "Unknown"
}

// strict refuses a body that the SDK's model doesn't hold as it is, and tags that Resource Manager doesn't take.
func (s *sim) strict(r *http.Request, action string) *simError {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if len(body) == 0 {
		return nil
	}
	make := models[action]
	if make == nil {
		return &simError{400, "InvalidRequestContent", "unexpected body of " + action}
	}
	model := make()
	if err := json.Unmarshal(body, model); err != nil {
		return &simError{400, "InvalidRequestContent", action + ": " + err.Error()}
	}
	again, err := json.Marshal(model)
	var was, is map[string]any
	if err != nil || json.Unmarshal(body, &was) != nil || json.Unmarshal(again, &is) != nil || !reflect.DeepEqual(was, is) {
		return &simError{400, "InvalidRequestContent", action + ": fields are lost: " + string(body) + " became " + string(again)}
	}
	tags, _ := was["tags"].(map[string]any)
	seen := map[string]bool{}
	for k, v := range tags {
		text, _ := v.(string)
		low := strings.ToLower(k)
		if seen[low] || len(k) > 512 || strings.ContainsAny(k, `<>%&\?/`) || len([]rune(text)) > 256 || len(tags) > 50 ||
			strings.HasPrefix(low, "azure") || strings.HasPrefix(low, "microsoft") || strings.HasPrefix(low, "windows") {
			return &simError{400, "InvalidTagNameCharacters", "bad tag " + k}
		}
		seen[low] = true
	}
	return nil
}

// dispatch has one of the SDK's fakes carry out a request. An operation that takes a while is answered as Azure does.
func (s *sim) dispatch(w http.ResponseWriter, r *http.Request, api string) {
	c := &call{}
	r = r.WithContext(context.WithValue(context.WithValue(context.WithoutCancel(r.Context()), callKey{}, c), runtime.CtxAPINameKey{}, api))
	var resp *http.Response
	var err error
	if strings.Contains(r.URL.Path, "/Microsoft.Compute/") {
		resp, err = computefake.NewServerFactoryTransport(s.compute()).Do(r)
	} else {
		resp, err = networkfake.NewServerFactoryTransport(s.network()).Do(r)
	}
	if c.err != nil {
		answerError(w, c.err)
		return
	}
	if err != nil {
		s.wrong = append(s.wrong, api+": "+err.Error())
		answerError(w, &simError{500, "InternalServerError", err.Error()})
		return
	}
	body, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	status := resp.StatusCode
	if c.op != nil {
		s.ops = append(s.ops, c.op)
		at := fmt.Sprintf("https://%s/subscriptions/%s/providers/Microsoft.Compute/locations/%s/operations/%d?api-version=2024-07-01", r.Host, simSubscription, simLocation, len(s.ops)-1)
		w.Header().Set("Azure-AsyncOperation", at)
		switch r.Method {
		case http.MethodPut:
			status = http.StatusCreated
		case http.MethodPatch:
			status = http.StatusOK
		default:
			w.Header().Set("Location", at+"&monitor=true")
			status, body = http.StatusAccepted, nil
		}
	}
	if strings.HasSuffix(api, "Pager") {
		body = s.paging(r, body)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if status != http.StatusNoContent {
		_, _ = w.Write(body)
	}
}

// paging returns one page of a list.
func (s *sim) paging(r *http.Request, body []byte) []byte {
	var all struct {
		Value []json.RawMessage `json:"value"`
		Next  string            `json:"nextLink,omitempty"`
	}
	_ = json.Unmarshal(body, &all)
	from, _ := strconv.Atoi(r.URL.Query().Get("$skiptoken"))
	to := min(from+s.page, len(all.Value))
	if to < len(all.Value) {
		q := r.URL.Query()
		q.Set("$skiptoken", strconv.Itoa(to))
		all.Next = (&url.URL{Scheme: "https", Host: r.Host, Path: r.URL.Path, RawQuery: q.Encode()}).String()
	}
	if all.Value = all.Value[min(from, to):to]; all.Value == nil {
		all.Value = []json.RawMessage{}
	}
	out, _ := json.Marshal(all)
	return out
}

// look tells how far an operation is.
func (s *sim) look(w http.ResponseWriter, number string) {
	n, _ := strconv.Atoi(number)
	if n >= len(s.ops) {
		answerError(w, &simError{404, "OperationNotFound", "no such operation"})
		return
	}
	op := s.ops[n]
	s.tick(op)
	switch {
	case op.left > 0:
		answer(w, 200, map[string]any{"status": "InProgress"})
	case op.err != nil:
		answer(w, 200, map[string]any{"status": "Failed", "error": map[string]any{"code": op.err.code, "message": op.err.message}})
	default:
		answer(w, 200, map[string]any{"status": "Succeeded"})
	}
}

func (s *sim) tick(op *operation) {
	if op.left > 0 {
		if op.left--; op.left == 0 {
			op.err = op.end()
		}
	}
}

// pending returns what is being done to a resource. A look at the resource is one at that, too: time passes.
func (s *sim) pending(on string, look bool) *operation {
	for _, op := range s.ops {
		if op.on == strings.ToLower(on) && op.left > 0 {
			if look {
				s.tick(op)
			}
			if op.left > 0 {
				return op
			}
		}
	}
	return nil
}

// begin starts an operation.
func (s *sim) begin(ctx context.Context, on string, end func() *simError) {
	callOf(ctx).op = &operation{left: s.looks, end: end, on: strings.ToLower(on)}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func answerError(w http.ResponseWriter, e *simError) {
	answer(w, e.status, map[string]any{"error": map[string]any{"code": e.code, "message": e.message}})
}

// token is Microsoft Entra ID.
func (s *sim) token(w http.ResponseWriter, r *http.Request) {
	base := "https://" + r.Host + "/" + simDirectory
	if strings.HasSuffix(r.URL.Path, "/v2.0/.well-known/openid-configuration") {
		answer(w, 200, map[string]any{"token_endpoint": base + "/oauth2/v2.0/token", "authorization_endpoint": base + "/oauth2/v2.0/authorize", "issuer": base + "/v2.0"})
		return
	}
	_ = r.ParseForm()
	wrong := s.signIn
	switch {
	case wrong != "":
	case r.Form.Get("client_id") != simClient:
		wrong = "AADSTS700016: Application with identifier was not found in the directory."
	case r.Form.Get("client_secret") != s.secret:
		wrong = "AADSTS7000215: Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the client secret ID."
	case r.Form.Get("grant_type") != "client_credentials" || !strings.Contains(r.Form.Get("scope"), "https://management.core.windows.net"):
		wrong = "AADSTS70011: The provided scope is not valid."
	}
	if wrong != "" {
		answer(w, 401, map[string]any{"error": "invalid_client", "error_description": wrong + " Trace ID: 5f3c"})
		return
	}
	answer(w, 200, map[string]any{"token_type": "Bearer", "expires_in": 3599, "access_token": "token-of-" + s.secret})
}

func serve(t *testing.T, wrap func(http.Handler) http.Handler, now func() *sim) *httptest.Server {
	t.Helper()
	srv := httptest.NewTLSServer(wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { now().ServeHTTP(w, r) })))
	t.Cleanup(srv.Close)
	return srv
}
