package settings

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/humanize"
	"muster/app/secret"
	"muster/app/template"
)

// CheckTenant says what an import of settings would do to the actor's tenant. It is tried out and undone: what it says is what would be.
func (a *Service) CheckTenant(ctx context.Context, actor app.Actor, in TenantImport) (TenantReport, error) {
	if err := actor.Authorize("CheckTenant"); err != nil {
		return TenantReport{}, err
	}
	p, err := a.planTenant(ctx, actor, in)
	if err != nil || !p.report.OK() {
		return p.reported(), err
	}
	err = p.carryOut(ctx, true)
	return p.reported(), err
}

// ImportTenant brings settings into the actor's tenant: all of it, or, where something is wrong, nothing. What is wrong is no error but
// problems of the report, which is not Applied then.
func (a *Service) ImportTenant(ctx context.Context, actor app.Actor, in TenantImport) (TenantReport, error) {
	if err := actor.Authorize("ImportTenant"); err != nil {
		return TenantReport{}, err
	}
	p, err := a.planTenant(ctx, actor, in)
	if err != nil || !p.report.OK() || len(p.steps) == 0 {
		return p.reported(), err
	}
	if err := p.carryOut(ctx, false); err != nil || !p.report.OK() {
		return p.reported(), err
	}
	p.report.Applied = true
	p.report.AsOf, err = a.Store.TenantMark(ctx, actor.Tenant)
	return p.reported(), err
}

// When a step has its turn: what others need comes first, and goes last.
const (
	turnTenant = iota
	turnUsers
	turnGroups
	turnRules
	turnSecrets
	turnCatalog
	turnHooks
	turnPools
	turnGone // pools and hooks, then rules, groups and people
	turnRulesGone
	turnGroupsGone
	turnUsersGone
)

// tenantStep is one write of an import.
type tenantStep struct {
	turn int
	path string
	do   func(ctx context.Context) error
}

// tenantPlan is an import as it is worked out.
type tenantPlan struct {
	a        *Service
	actor    app.Actor
	in       TenantImport
	at       time.Time
	want, is TenantSettings
	places   map[string]TenantPlace
	mark     string
	report   TenantReport
	steps    []tenantStep
	after    *template.Catalog // as it will be; nil: as it is
	named    map[string]bool   // places that the file has
	missing  map[string]bool   // places without a value
	lost     string            // a hash that no password has, for new accounts; made when it is needed
}

// planTenant finds what an import does, and all that is wrong with it. The plan is never nil.
func (a *Service) planTenant(ctx context.Context, actor app.Actor, in TenantImport) (*tenantPlan, error) {
	p := &tenantPlan{a: a, actor: actor, in: in, at: a.Now(), missing: map[string]bool{}}
	if a.TenantFiles == nil {
		return p, errNoTenantFiles
	}
	if err := in.check(); err != nil {
		return p, err
	}
	var problems []TenantProblem
	p.want, p.places, problems = a.TenantFiles.ReadTenant(in.File)
	p.report.Problems, p.named = problems, placesOf(p.want)
	var err error
	if p.mark, err = a.Store.TenantMark(ctx, actor.Tenant); err != nil {
		return p, err
	}
	if in.AsOf != "" && in.AsOf != p.mark {
		return p, TenantMoved()
	}
	p.report.AsOf = p.mark
	if len(problems) > 0 { // what is only half read would look like something that is to be removed
		return p, nil
	}
	if p.is, err = a.tenantSettings(ctx, actor.Tenant); err != nil {
		return p, err
	}
	for _, part := range []func(context.Context) error{
		p.tenant, p.idle, p.maintenance,
		p.people, p.groups, p.quotas, p.policies, p.secrets, p.catalog, p.hooks, p.buildHooks, p.pools, p.resources,
	} {
		if err := part(ctx); err != nil {
			return p, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in.Fill)) {
		if !p.named[name] {
			p.wrong("", &app.Error{Code: app.EInvalid, Message: fmt.Sprintf("The file has no placeholder %.70q.", name), Hint: "Check the spelling of the name."})
		}
	}
	slices.SortStableFunc(p.steps, func(x, y tenantStep) int { return cmp.Compare(x.turn, y.turn) })
	return p, nil
}

func (in TenantImport) check() error {
	if len(in.File) > MaxTenantFile {
		return &app.Error{Code: app.ETooLarge, Field: "file", Message: fmt.Sprintf("A settings file must be at most %s.", humanize.Bytes(MaxTenantFile)), Hint: "Import the catalog separately: muster catalog apply."}
	}
	if len(in.Fill) > maxTenantFill {
		return &app.Error{Code: app.ETooLarge, Field: "fill", Message: fmt.Sprintf("At most %d values are allowed.", maxTenantFill)}
	}
	for name, value := range in.Fill {
		if !app.SecretPattern.MatchString(name) {
			return &app.Error{Code: app.EInvalid, Field: "fill", Message: fmt.Sprintf("Invalid placeholder name %.70q.", name), Hint: "Use capital letters, digits and underscores, as in REGISTRY_TOKEN."}
		}
		if value == "" || len(value) > secret.MaxSecret {
			return &app.Error{Code: app.EInvalid, Field: "fill", Message: fmt.Sprintf("The value for %s is empty or longer than %d bytes.", name, secret.MaxSecret)}
		}
	}
	return nil
}

// placesOf returns the names of all places.
func placesOf(s TenantSettings) map[string]bool {
	var all []template.SecretPlace
	for _, place := range s.Secrets {
		all = append(all, place)
	}
	for _, h := range s.Hooks {
		all = append(all, h.URL, h.Secret)
	}
	for _, h := range s.BuildHooks {
		all = append(all, h.Secret)
	}
	names := map[string]bool{}
	for _, place := range all {
		if name, ok := place.Name(); ok {
			names[name] = true
		}
	}
	return names
}

// filled returns what is to stand at a place of something new; "" where that is not known, which is a problem.
func (p *tenantPlan) filled(path string, place template.SecretPlace) string {
	name, ok := place.Name()
	switch {
	case place == "":
		p.wrong(path, &app.Error{Message: "A secret is required here, but the file has no placeholder for one.", Hint: "Use ${secret:NAME}, and pass a value for NAME when you import."})
	case !ok:
		p.wrong(path, &app.Error{Message: "Only a secret's placeholder is allowed here.", Hint: "Use ${secret:NAME}, with capital letters, digits and underscores, and pass a value for NAME when you import."})
	case p.in.Fill[name] == "":
		p.missing[name] = true
		p.wrong(path, &app.Error{Message: fmt.Sprintf("The tenant has no value for %s, and none was passed.", place), Hint: fmt.Sprintf("Pass one when you import: add a line %s=… to the --fill file, or set MUSTER_FILL_%s.", name, name)})
	default:
		return p.in.Fill[name]
	}
	return ""
}

func (p *tenantPlan) wrong(path string, err *app.Error) {
	p.note(path, catalog.SeverityError, err.Message, err.Hint)
}

func (p *tenantPlan) warn(path, message, hint string) {
	p.note(path, catalog.SeverityWarning, message, hint)
}

func (p *tenantPlan) note(path, severity, message, hint string) {
	p.report.Problems = append(p.report.Problems, TenantProblem{TenantPlace: p.place(path), Path: path, Severity: severity, Message: message, Hint: hint})
}

// place is where a path is written, or the nearest thing around it.
func (p *tenantPlan) place(path string) TenantPlace {
	for path != "" {
		if at, ok := p.places[path]; ok {
			return at
		}
		i := strings.LastIndexAny(path, ".[")
		path = path[:max(i, 0)]
	}
	return TenantPlace{}
}

// refused notes what a check says of a path; any other error is given back.
func (p *tenantPlan) refused(path string, err error) error {
	var e *app.Error
	if !errors.As(err, &e) || e.Code == app.EInternal || e.Code == app.ETransient || e.Code == app.ETimeout {
		return err
	}
	if e.Field != "" && e.Field != "name" {
		path += "." + e.Field
	}
	p.wrong(path, e)
	return nil
}

func (p *tenantPlan) step(turn int, path string, do func(ctx context.Context) error) {
	p.steps = append(p.steps, tenantStep{turn, path, do})
}

func (p *tenantPlan) edit(e TenantEdit) { p.report.Changes = append(p.report.Changes, e) }

// told is the report for the reader.
func (p *tenantPlan) reported() TenantReport {
	r := p.report
	r.Problems, r.Changes = slices.Concat([]TenantProblem{}, r.Problems), slices.Concat([]TenantEdit{}, r.Changes)
	slices.SortStableFunc(r.Problems, func(x, y TenantProblem) int {
		return cmp.Or(strings.Compare(x.Severity, y.Severity), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Column, y.Column))
	})
	r.Fill = slices.Sorted(maps.Keys(p.missing))
	return r
}

// errUndo ends a try.
var errUndo = errors.New("only tried")

// carryOut writes all of it in one transaction, or, dry, undoes it again. What is refused becomes problems, all of them, and nothing is
// written then.
func (p *tenantPlan) carryOut(ctx context.Context, dry bool) error {
	if len(p.steps) == 0 {
		return nil
	}
	facts := map[string]any{"file": template.Digest(p.in.File)[:16], "changes": len(p.report.Changes), "prune": p.in.Prune}
	before := len(p.report.Problems)
	err := p.a.Store.InTransaction(ctx, p.actor, p.mark, p.at, facts, func(ctx context.Context) error {
		p.report.Problems = p.report.Problems[:before]
		for _, s := range p.steps {
			if err := s.do(ctx); err != nil {
				if err := p.refused(s.path, err); err != nil {
					return err
				}
			}
		}
		if p.a.Faults != nil {
			if err := p.a.Faults("tenant_import"); err != nil {
				return err
			}
		}
		if dry || !p.report.OK() {
			return errUndo
		}
		return nil
	})
	if errors.Is(err, errUndo) {
		return nil
	}
	return err
}

// eachPart goes through a part: what the file holds that is other than the tenant has it, and, with prune, what it does not hold. The
// functions check and add steps; what they refuse becomes a problem.
func eachPart[T any](p *tenantPlan, part string, want, is map[string]T, save func(path, name string, want T, is *T) error, drop func(path, name string) error) error {
	if want == nil {
		return nil
	}
	names := maps.Clone(want)
	if p.in.Prune {
		maps.Copy(names, is)
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		path := part + "." + name
		w, wanted := want[name]
		had, have := is[name]
		edit := TenantEdit{Part: part, Name: name, Act: "add"}
		var err error
		switch {
		case wanted && have && template.CatalogText(w) == template.CatalogText(had):
			p.report.Unchanged++
			continue
		case !wanted:
			edit.Act = "remove"
			p.edit(edit)
			err = drop(path, name)
		default:
			var before any
			var old *T
			if have {
				edit.Act, before, old = "change", had, &had
			}
			if edit.Fields, err = catalog.FieldChanges(before, w); err != nil {
				return err
			}
			p.edit(edit)
			err = save(path, name, w, old)
		}
		if err != nil {
			if err := p.refused(path, err); err != nil {
				return err
			}
		}
	}
	return nil
}
