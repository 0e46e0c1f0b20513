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

// tellProblems makes huma report its own errors in our format. Huma has a package variable for that, so it's set once per process.
var tellProblems = sync.OnceFunc(func() {
	huma.NewError = func(status int, message string, causes ...error) huma.StatusError {
		return problemOf(status, message, causes)
	}
	huma.ValidateStrictCasing = true // otherwise "Size" beside "size" would be the same field twice
	huma.NewErrorWithContext = func(_ huma.Context, status int, message string, causes ...error) huma.StatusError {
		return problemOf(status, message, causes)
	}
})

// newAPI creates the REST API on a router mounted at /api/v1.
func (p *Portal) newAPI(r chi.Router) huma.API {
	tellProblems()
	c := huma.DefaultConfig("Muster", "1") // the API's version: the document is public, so it doesn't show Muster's version
	c.Info.Description = "Create and manage clusters on any cloud. Durations are in nanoseconds. " +
		"Superadmins can act in another tenant with the header Muster-Tenant. Endpoints for build systems and builds, which need no account, are described in /hooks/openapi.json."
	c.Info.License = &huma.License{Name: "Apache License 2.0", Identifier: "Apache-2.0"}
	c.Servers = []*huma.Server{{URL: site.APIPath}}
	// Responses have no $schema links, and there's no documentation page from a CDN.
	c.CreateHooks, c.DocsPath, c.SchemasPath, c.OpenAPIPath = nil, "", "", ""
	c.RejectUnknownQueryParameters = true
	c.Components.Schemas = site.NewAPISchemas()
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}}
	api := humachi.New(r, c)

	// A preview needs no name, and the use case has the better error for a missing size.
	schema := c.Components.Schemas
	schema.Schema(reflect.TypeFor[cluster.CreateRequest](), true, "")
	if s := schema.Map()["CreateRequest"]; s != nil {
		s.Required = []string{"template"}
		s.PrecomputeMessages()
	}
	operation.BoundUpdates(schema)

	schema.Schema(reflect.TypeFor[app.Event](), true, "") // which streaming refers to
	schema.Schema(reflect.TypeFor[cluster.View](), true, "")
	schema.Schema(reflect.TypeFor[cluster.Request](), true, "") // which eitherWay refers to
	schema.Schema(reflect.TypeFor[cluster.UpdateAnswer](), true, "")
	schema.Schema(reflect.TypeFor[usage.Usage](), true, "")         // which usageForms refers to
	schema.Schema(reflect.TypeFor[inventory.Inventory](), true, "") // which inventoryForm refers to

	api.UseMiddleware(p.boundTime, p.bearer(), p.tagged, p.matching, p.repeatable)
	return api
}

func (p *Portal) boundTime(ctx huma.Context, next func(huma.Context)) {
	if ctx.Operation().Metadata[site.MetaStream] == true {
		// The server's deadlines would cut long polls short; later writes have their own deadline.
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

// bearer authenticates by token.
func (p *Portal) bearer() func(huma.Context, func(huma.Context)) {
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
				Code: app.EUnauthorized, Message: "A token is required.", Hint: "Send the header Authorization: Bearer <token>.",
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
		still := func(ctx context.Context) (app.Actor, error) {
			now, err := p.SignIns.ActorOfToken(ctx, token, site.Address(r))
			if err != nil {
				return now, err
			}
			return p.ActingIn(ctx, now, identity.HeaderTenant(r))
		}
		long := context.WithValue(ctx.Context(), site.StillKey{}, still)
		next(huma.WithContext(ctx, a.In(context.WithValue(long, site.ActorKey{}, a))))
	}
}

// problemOf converts an error of huma into a problem, without the values, which may be secrets.
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
		if at := strings.TrimPrefix(strings.TrimPrefix(first.Location, "body"), "."); at != "" { // "body" is implied
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
