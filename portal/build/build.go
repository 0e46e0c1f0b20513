package build

import (
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/httprate"
	"muster/app"
	appbuild "muster/app/build"
	"muster/app/humanize"
	"muster/app/inventory"
	"muster/app/sshaccess"
	"muster/app/template"
	"muster/portal/site"
)

// Rate limits per minute, for one hook and for one address. Both are counted before anything is verified.
const (
	perBuildHook    = 600
	perBuildAddress = 1200
)

// buildDoor enforces the rate limits.
type buildDoor struct{ hook, address *httprate.RateLimiter }

func newBuildDoor() buildDoor {
	return buildDoor{httprate.NewRateLimiter(perBuildHook, time.Minute), httprate.NewRateLimiter(perBuildAddress, time.Minute)}
}

// CallRoutes are the routes for callers without an account.
func CallRoutes(p *Service) []site.Route {
	door := newBuildDoor()
	knock := func(method, pattern string, h func(w http.ResponseWriter, r *http.Request) (any, int, error)) site.Route {
		return site.Route{Method: method, Pattern: pattern, Plain: site.Within(site.RequestTime, func(w http.ResponseWriter, r *http.Request) {
			if door.address.OnLimit(w, r, site.Neighbourhood(site.Address(r))) || door.hook.OnLimit(w, r, chi.URLParam(r, "hook")) {
				p.WriteProblem(w, r, &app.Error{Code: app.ERateLimit, Reason: "api_rate", RetryAfter: site.RateAgain, Message: "Too many requests within a minute.", Hint: "Wait as long as the header Retry-After says."})
				return
			}
			answer, status, err := h(w, r)
			if err != nil {
				p.WriteProblem(w, r, err)
				return
			}
			if answer == nil {
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(site.WithLists(answer))
		})}
	}
	return []site.Route{
		{Method: http.MethodGet, Pattern: "/hooks/openapi.json", Plain: site.ServeOpenAPI(p.HooksDocument)},
		knock(http.MethodPost, "/hooks/{hook}", p.buildTake),
		knock(http.MethodGet, "/hooks/{hook}/builds/{build}", p.buildAwait),
		knock(http.MethodGet, "/hooks/{hook}/builds/{build}/inventory", p.buildInventory),
		knock(http.MethodGet, "/hooks/{hook}/builds/{build}/key", p.buildKey),
		knock(http.MethodPost, "/hooks/{hook}/builds/{build}/certificate", p.buildCertificate),
		knock(http.MethodPost, "/hooks/{hook}/builds/{build}/end", p.buildEnd),
		knock(http.MethodPost, "/hooks/{hook}/builds/{build}/extend", p.buildExtend),
	}
}

// Document describes the endpoints below /hooks. It's separate from the REST API's document: callers have no account but a hook's
// secret or a build's token, and deliveries have the build system's format.
func Document() *huma.OpenAPI {
	schemas := site.NewAPISchemas()
	jsonOf := func(t reflect.Type) map[string]*huma.MediaType {
		return map[string]*huma.MediaType{site.MediaJSON: {Schema: schemas.Schema(t, true, "")}}
	}
	text := &huma.Schema{Type: huma.TypeString}
	refused := &huma.Response{Description: "Error", Content: map[string]*huma.MediaType{"application/problem+json": {Schema: schemas.Schema(reflect.TypeFor[site.Problem](), true, "")}}}
	hook := &huma.Param{Name: "hook", In: "path", Required: true, Schema: text, Description: "ID of the hook, from its URL"}
	build := &huma.Param{Name: "build", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeInteger, Format: "int64"}, Description: "Number of the build, from the response to its delivery"}
	// operation is an operation on a build by default.
	operation := func(id, method, summary string, status string, content map[string]*huma.MediaType, more ...func(*huma.Operation)) *huma.Operation {
		o := &huma.Operation{OperationID: id, Method: method, Summary: summary, Parameters: []*huma.Param{hook, build}, Security: []map[string][]string{{"build": {}}},
			Responses: map[string]*huma.Response{status: {Description: summary, Content: content}}}
		for _, refusal := range []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge,
			http.StatusUnprocessableEntity, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout} {
			o.Responses[strconv.Itoa(refusal)] = refused
		}
		for _, f := range more {
			f(o)
		}
		return o
	}
	query := func(name, doc string, s *huma.Schema) func(*huma.Operation) {
		return func(o *huma.Operation) {
			o.Parameters = append(o.Parameters, &huma.Param{Name: name, In: "query", Description: doc, Schema: s})
		}
	}
	sends := func(content map[string]*huma.MediaType, doc string) func(*huma.Operation) {
		return func(o *huma.Operation) { o.RequestBody = &huma.RequestBody{Content: content, Description: doc} }
	}
	delivery := func(o *huma.Operation) {
		o.Parameters, o.Security = []*huma.Param{hook}, []map[string][]string{}
		o.RequestBody.Required = true
	}
	view := jsonOf(reflect.TypeFor[appbuild.View]())
	const most = float64(appbuild.MaxBuildAwait / time.Second)
	return &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{Title: "Muster build hooks", Version: "1", License: &huma.License{Name: "Apache License 2.0", Identifier: "Apache-2.0"},
			Description: "Endpoints for build systems to report builds, and for builds to access their clusters. Deliveries are signed with the hook's secret; builds use the token from the response to their delivery."},
		Servers: []*huma.Server{{URL: strings.TrimSuffix(site.HooksPath, "/")}},
		Components: &huma.Components{Schemas: schemas, SecuritySchemes: map[string]*huma.SecurityScheme{
			"build": {Type: "http", Scheme: "bearer", Description: "Token of a build, valid until the build ends"}}},
		Paths: map[string]*huma.PathItem{
			"/{hook}": {Post: operation("take-delivery", http.MethodPost, "Receive a delivery", "202", jsonOf(reflect.TypeFor[appbuild.IntakeResponse]()),
				sends(map[string]*huma.MediaType{site.MediaJSON: {Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}}},
					"Payload of GitHub, GitLab or another build system, with its own headers and signature; see docs/builds.md for details and for the format of scripts"), delivery)},
			"/{hook}/builds/{build}": {Get: operation("show-build", http.MethodGet, "Show a build with its cluster, optionally waiting for a change", "200", view,
				query("wait", "Seconds to wait for a change", &huma.Schema{Type: huma.TypeInteger, Minimum: new(float64), Maximum: new(most)}))},
			"/{hook}/builds/{build}/inventory": {Get: operation("show-inventory", http.MethodGet, "Get the inventory of the machines for other tools", "200",
				map[string]*huma.MediaType{site.MediaJSON: {Schema: schemas.Schema(reflect.TypeFor[inventory.Inventory](), true, "")}, "text/plain": {Schema: text}}, query("format", "ansible, ansible-yaml, ssh, known_hosts, hosts, json or env; default: json", text),
				query("key", "Path of the private key, for references in the file", text), query("known_hosts", "Path of the known_hosts file, for references in the formats ssh and ansible", text))},
			"/{hook}/builds/{build}/key": {Get: operation("get-key", http.MethodGet, "Get the private SSH key of the build's cluster", "200",
				map[string]*huma.MediaType{"application/x-pem-file": {Schema: text}})},
			"/{hook}/builds/{build}/certificate": {Post: operation("get-certificate", http.MethodPost, "Get a short-lived SSH certificate for the build's cluster", "200",
				jsonOf(reflect.TypeFor[sshaccess.ClusterCertificate]()), sends(jsonOf(reflect.TypeFor[buildCertificateRequest]()), ""))},
			"/{hook}/builds/{build}/end":    {Post: operation("end-build", http.MethodPost, "End a build and delete its cluster", "200", view)},
			"/{hook}/builds/{build}/extend": {Post: operation("extend-build", http.MethodPost, "Extend the lease of the build's cluster", "200", view, sends(jsonOf(reflect.TypeFor[buildExtension]()), ""))},
		},
	}
}

func (p *Service) buildTake(w http.ResponseWriter, r *http.Request) (any, int, error) {
	tooLarge := &app.Error{Code: app.ETooLarge, Message: "The delivery is larger than " + humanize.Bytes(appbuild.MaxBuildBody) + ".", Hint: "Send fewer kinds of events from the build system."}
	if r.ContentLength > appbuild.MaxBuildBody {
		return nil, 0, tooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, appbuild.MaxBuildBody))
	if err != nil {
		if _, answer := site.Known(err); answer.Status == http.StatusRequestEntityTooLarge {
			return nil, 0, tooLarge
		}
		return nil, 0, &app.Error{Code: app.EInvalid, Reason: "malformed", Message: "The body is incomplete."}
	}
	hook := chi.URLParam(r, "hook")
	receipt, err := p.BuildCalls.IngestBuild(r.Context(), hook, r.Header.Get, body, site.Address(r))
	if err != nil {
		return nil, 0, err
	}
	if receipt.Token != "" {
		receipt.URL = strings.TrimSuffix(p.URL, "/") + buildPath(hook, receipt.Build)
	}
	return receipt, http.StatusAccepted, nil
}

// buildKeyOf parses the build's number and the token.
func buildKeyOf(r *http.Request) (appbuild.Key, error) {
	id, err := strconv.ParseInt(chi.URLParam(r, "build"), 10, 64)
	if err != nil || id <= 0 {
		return appbuild.Key{}, site.ErrNoSuchPage
	}
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return appbuild.Key{Hook: chi.URLParam(r, "hook"), Build: id, Token: strings.TrimSpace(token)}, nil
}

// byBuild wraps a handler for the build that a request names.
func byBuild[T any](r *http.Request, ask func(k appbuild.Key) (T, error)) (any, int, error) {
	k, err := buildKeyOf(r)
	if err != nil {
		return nil, 0, err
	}
	v, err := ask(k)
	return v, http.StatusOK, err
}

// viewByBuild is byBuild for a build's view, whose links use the build's own token.
func viewByBuild(r *http.Request, ask func(k appbuild.Key) (appbuild.View, error)) (any, int, error) {
	return byBuild(r, func(k appbuild.Key) (appbuild.View, error) {
		v, err := ask(k)
		return withAccess(v, buildPath(k.Hook, k.Build)), err
	})
}

// buildPath is a build's path for holders of its token.
func buildPath(hook string, id int64) string {
	return site.HooksPath + hook + "/builds/" + strconv.FormatInt(id, 10)
}

// APIBuild adds links for signed-in callers.
func APIBuild(v appbuild.View, err error) (appbuild.View, error) {
	return withAccess(v, "/api/v1/clusters/"+v.Cluster), err
}

// withAccess adds links to the inventory and key of a build's cluster, once it exists.
func withAccess(v appbuild.View, below string) appbuild.View {
	if v.State == app.BuildReady && v.Cluster != "" {
		v.Inventory, v.SSHKey = below+"/inventory", below+"/key"
	}
	return v
}

func (p *Service) buildAwait(_ http.ResponseWriter, r *http.Request) (any, int, error) {
	wait := 0
	if text := r.URL.Query().Get("wait"); text != "" {
		var err error
		if wait, err = strconv.Atoi(text); err != nil || wait < 0 || wait > int(appbuild.MaxBuildAwait/time.Second) {
			return nil, 0, &app.Error{Code: app.EInvalid, Field: "wait", Message: "wait must be 0–25 seconds."}
		}
	}
	return viewByBuild(r, func(k appbuild.Key) (appbuild.View, error) {
		return p.BuildCalls.AwaitBuildBy(r.Context(), k, time.Duration(wait)*time.Second)
	})
}

func (p *Service) buildEnd(_ http.ResponseWriter, r *http.Request) (any, int, error) {
	return viewByBuild(r, func(k appbuild.Key) (appbuild.View, error) { return p.BuildCalls.EndBuildBy(r.Context(), k) })
}

// smallJSON reads a small JSON body; an empty one is allowed.
func smallJSON(w http.ResponseWriter, r *http.Request, into any) error {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
	if err != nil {
		return err
	}
	if len(b) == 0 {
		return nil
	}
	if err := json.Unmarshal(b, into); err != nil {
		return &app.Error{Code: app.EInvalid, Reason: "malformed", Message: "The body isn't valid JSON for this request."}
	}
	return nil
}

func (p *Service) buildExtend(w http.ResponseWriter, r *http.Request) (any, int, error) {
	in := buildExtension{By: "1h"}
	if err := smallJSON(w, r, &in); err != nil {
		return nil, 0, err
	}
	by, err := template.ParseLength(in.By)
	if err != nil {
		return nil, 0, err
	}
	return viewByBuild(r, func(k appbuild.Key) (appbuild.View, error) {
		return p.BuildCalls.ExtendBuildBy(r.Context(), k, by)
	})
}

func (p *Service) buildInventory(w http.ResponseWriter, r *http.Request) (any, int, error) {
	k, err := buildKeyOf(r)
	if err != nil {
		return nil, 0, err
	}
	v, err := p.BuildCalls.BuildClusterBy(r.Context(), k)
	if err != nil {
		return nil, 0, err
	}
	q := r.URL.Query()
	format := inventory.Format(q.Get("format"))
	if format == "" {
		format = inventory.FormatJSON
	}
	text, _, kind, err := site.InventoryFile(v, format, site.InventoryFiles(q))
	if err != nil {
		return nil, 0, err
	}
	w.Header().Set("Content-Type", kind)
	_, _ = io.WriteString(w, text)
	return nil, 0, nil
}

func (p *Service) buildKey(w http.ResponseWriter, r *http.Request) (any, int, error) {
	k, err := buildKeyOf(r)
	if err != nil {
		return nil, 0, err
	}
	_, pem, err := p.BuildCalls.BuildKeyBy(r.Context(), k)
	if err != nil {
		return nil, 0, err
	}
	w.Header().Set("Content-Type", "application/x-pem-file")
	_, _ = w.Write(pem)
	return nil, 0, nil
}

type buildCertificateRequest struct {
	PublicKey string `json:"public_key" doc:"Content of a file such as id_ed25519.pub"`
	TTL       string `json:"ttl,omitempty" doc:"Validity, such as 1h"`
}

func (p *Service) buildCertificate(w http.ResponseWriter, r *http.Request) (any, int, error) {
	var in buildCertificateRequest
	if err := smallJSON(w, r, &in); err != nil {
		return nil, 0, err
	}
	var ttl time.Duration
	if in.TTL != "" {
		var err error
		if ttl, err = template.ParseLength(in.TTL); err != nil {
			return nil, 0, err
		}
	}
	return byBuild(r, func(k appbuild.Key) (sshaccess.ClusterCertificate, error) {
		return p.BuildCalls.BuildCertificateBy(r.Context(), k, in.PublicKey, ttl)
	})
}
