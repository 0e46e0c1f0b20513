package portal

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/cluster"
	"muster/app/inventory"
	"muster/app/usage"
	"muster/portal/identity"
	"muster/portal/operation"
	"muster/portal/site"
	"muster/portal/wire"
)

// tellProblems makes huma say its own refusals in our form. Huma keeps that choice in a variable of its package, so it
// is made once for the process.
var tellProblems = sync.OnceFunc(func() {
	huma.NewError = func(status int, message string, causes ...error) huma.StatusError {
		return problemOf(status, message, causes)
	}
	huma.ValidateStrictCasing = true // otherwise "Size" beside "size" would be the same field twice
	huma.NewErrorWithContext = func(_ huma.Context, status int, message string, causes ...error) huma.StatusError {
		return problemOf(status, message, causes)
	}
})

// newAPI makes the REST API on a router that is mounted at /api/v1.
func (p *Portal) newAPI(r chi.Router) huma.API {
	tellProblems()
	c := huma.DefaultConfig("Muster", "1") // of the API: strangers read the document, and are not told which Muster this is
	c.Info.Description = "Clusters on any cloud, from a template and a number of nodes. Lengths of time are in nanoseconds. " +
		"Superadmins act in another tenant with the header Muster-Tenant. What build systems and their builds ask for without an account is described apart, in /hooks/openapi.json."
	c.Info.License = &huma.License{Name: "Apache License 2.0", Identifier: "Apache-2.0"}
	c.Servers = []*huma.Server{{URL: site.APIPath}}
	// Answers are what the contracts say and nothing else: no $schema links; and no documentation page from a CDN.
	c.CreateHooks, c.DocsPath, c.SchemasPath, c.OpenAPIPath = nil, "", "", ""
	c.RejectUnknownQueryParameters = true
	c.Components.Schemas = site.NewAPISchemas()
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}}
	api := humachi.New(r, c)

	// A preview needs no name and may leave the size to be complained about in words, by the use case.
	schema := c.Components.Schemas
	schema.Schema(reflect.TypeFor[cluster.ClusterRequest](), true, "")
	if s := schema.Map()["ClusterRequest"]; s != nil {
		s.Required = []string{"template"}
		s.PrecomputeMessages()
	}
	operation.BoundAmendments(schema)

	schema.Schema(reflect.TypeFor[app.Event](), true, "") // which streaming refers to
	schema.Schema(reflect.TypeFor[cluster.ClusterView](), true, "")
	schema.Schema(reflect.TypeFor[cluster.Request](), true, "") // which eitherWay refers to
	schema.Schema(reflect.TypeFor[cluster.AmendAnswer](), true, "")
	schema.Schema(reflect.TypeFor[usage.Usage](), true, "")         // which usageForms refers to
	schema.Schema(reflect.TypeFor[inventory.Inventory](), true, "") // which inventoryForm refers to

	api.UseMiddleware(p.boundTime, p.bearer(api), p.tagged, p.matching, p.repeatable)
	return api
}

func (p *Portal) boundTime(ctx huma.Context, next func(huma.Context)) {
	if ctx.Operation().Metadata[site.MetaStream] == true {
		// The server's deadlines would cut a long poll short; what is written later has a deadline of its own.
		_, w := humachi.Unwrap(ctx)
		rc := http.NewResponseController(w)
		_ = rc.SetReadDeadline(time.Time{})
		_ = rc.SetWriteDeadline(time.Time{})
		next(ctx)
		return
	}
	bounded, cancel := context.WithTimeout(ctx.Context(), site.RequestTime)
	defer cancel()
	next(huma.WithContext(ctx, bounded))
}

// bearer lets in who carries a token.
func (p *Portal) bearer(api huma.API) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		if len(ctx.Operation().Security) == 0 {
			r, w := humachi.Unwrap(ctx)
			if err := p.quota.StrangerTooOften(w, r); err != nil {
				p.WriteProblem(w, r, err)
				return
			}
			next(ctx)
			return
		}
		r, w := humachi.Unwrap(ctx)
		scheme, token, _ := strings.Cut(ctx.Header("Authorization"), " ")
		token = strings.TrimSpace(token)
		if !strings.EqualFold(scheme, "Bearer") || token == "" {
			w.Header().Set("WWW-Authenticate", "Bearer")
			p.WriteProblem(w, r, &app.Error{
				Code: app.EUnauthorized, Message: "This needs a token.", Hint: "Send the header Authorization: Bearer <token>.",
			})
			return
		}
		a, err := p.SignIns.ActorOfToken(ctx.Context(), token, site.Address(r))
		if err != nil {
			if app.CodeOf(err) == app.EUnauthorized {
				w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
			}
			p.WriteProblem(w, r, err)
			return
		}
		site.RequestOf(ctx.Context()).User = a.Tenant + "/" + a.Name()
		if a, err = p.ActingIn(ctx.Context(), a, identity.HeaderTenant(r)); err != nil {
			p.WriteProblem(w, r, err)
			return
		}
		if err := p.quota.TooOften(w, r, a); err != nil {
			p.WriteProblem(w, r, err)
			return
		}
		still := func(ctx context.Context) error {
			_, err := p.SignIns.ActorOfToken(ctx, token, site.Address(r))
			return err
		}
		long := context.WithValue(ctx.Context(), site.StillKey{}, still)
		next(huma.WithContext(ctx, a.In(context.WithValue(long, site.ActorKey{}, a))))
	}
}

// problemOf says a refusal of huma as a problem. The values that it would echo are left out: they may be secrets.
func problemOf(status int, message string, causes []error) *site.Problem {
	b := &site.Problem{Title: http.StatusText(status), Status: status, Detail: plainRefusal(message), Code: wire.CodeOfStatus(status)}
	for _, c := range causes {
		if c == nil {
			continue
		}
		pl := site.Place{Message: c.Error()}
		if d, ok := c.(huma.ErrorDetailer); ok {
			pl = site.Place{Message: d.ErrorDetail().Message, Location: d.ErrorDetail().Location}
		}
		b.Places = append(b.Places, pl)
	}
	slices.SortFunc(b.Places, func(x, y site.Place) int {
		return cmp.Or(strings.Compare(x.Location, y.Location), strings.Compare(x.Message, y.Message))
	})
	b.Places = slices.Compact(b.Places)
	for i := range b.Places {
		b.Places[i].Message = plainRefusal(b.Places[i].Message)
	}
	if len(b.Places) > 0 {
		first := b.Places[0]
		if _, field, ok := strings.Cut(first.Location, "."); ok {
			b.Field = field
		}
		b.Detail = first.Message
		if at := strings.TrimPrefix(strings.TrimPrefix(first.Location, "body"), "."); at != "" { // that it is the body goes without saying
			b.Detail = at + ": " + first.Message
		}
	}
	return b
}

func (p *Portal) apiNotFound(w http.ResponseWriter, r *http.Request) {
	p.WriteProblem(w, r, site.ErrNoSuchPage)
}

func (p *Portal) apiNotAllowed(w http.ResponseWriter, r *http.Request) {
	allow(w, r)
	p.WriteProblem(w, r, site.ErrNoSuchVerb)
}
