package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"muster/app"
	"muster/app/humanize"
	"muster/app/template"
)

// applyTries is how often a change is worked out again that others were faster than.
const applyTries = 5

// CheckCatalog says what a change would do. Nothing is saved.
func (a *Service) CheckCatalog(ctx context.Context, actor app.Actor, c Change) (Report, error) {
	if err := actor.Authorize("CheckCatalog"); err != nil {
		return Report{}, err
	}
	d, err := a.WorkOutChange(ctx, actor, c)
	if err != nil {
		return Report{}, err
	}
	return d.Report, nil
}

// ApplyCatalog saves it, all or nothing. Wrong texts are no error but problems of the report, which is not Saved then.
func (a *Service) ApplyCatalog(ctx context.Context, actor app.Actor, c Change) (Report, error) {
	if err := actor.Authorize("ApplyCatalog"); err != nil {
		return Report{}, err
	}
	return a.applyCatalog(ctx, actor, c)
}

func (a *Service) applyCatalog(ctx context.Context, actor app.Actor, c Change) (Report, error) {
	for try := 1; ; try++ {
		d, err := a.WorkOutChange(ctx, actor, c)
		if err != nil {
			return Report{}, err
		}
		if !d.Report.OK() || len(d.Entries) == 0 {
			return d.Report, nil
		}
		now := a.Now()
		revision, err := a.Own.SaveTenantCatalog(ctx, actor, TenantCatalogSave{At: now, Entries: d.Entries, Revision: d.Revision, AsOf: d.asOf, Accounts: d.Accounts,
			Templates: d.After.TemplatesSince(d.Before, d.Base, actor.Name(), now)})
		var e *app.Error
		if errors.As(err, &e) && e.Reason == "catalog_moved" && try < applyTries {
			continue
		}
		if err != nil {
			return Report{}, err
		}
		d.Report.Saved, d.Report.Revision = true, strconv.FormatInt(revision, 10)
		return d.Report, nil
	}
}

// RevertCatalog saves an older version's text again, or removes the entry where that version was gone. Version 0 is the installation's
// entry: the own one is removed.
func (a *Service) RevertCatalog(ctx context.Context, actor app.Actor, k template.CatalogKey, number int, note string) (Report, error) {
	if err := actor.Authorize("RevertCatalog"); err != nil {
		return Report{}, err
	}
	if err := k.CheckKind(); err != nil {
		return Report{}, err
	}
	c := Change{Note: cmp.Or(strings.TrimSpace(note), fmt.Sprintf("Revert to version %d.", number))}
	if number == 0 {
		c.Remove = []template.CatalogKey{k}
		return a.applyCatalog(ctx, actor, c)
	}
	was, err := a.Own.TenantCatalogVersion(ctx, actor.Tenant, k, number)
	if err != nil {
		return Report{}, err
	}
	switch {
	case was.Gone:
		c.Remove = []template.CatalogKey{k}
	case was.Text == "":
		return Report{}, &app.Error{Code: app.EConflict, Reason: "too_old", Field: "number", Message: fmt.Sprintf("The text of version %d is no longer available.", number),
			Hint: fmt.Sprintf("Choose one of the last %d versions.", KeptCatalogTexts)}
	default:
		c.Files, c.again = []File{{Name: k.Kind + "/" + k.Name + ".yaml", Text: was.Text}}, &was
	}
	return a.applyCatalog(ctx, actor, c)
}

const (
	SeverityError   = "error"
	SeverityWarning = "warning"
)

// catalogDraft is a change as it is worked out.
type catalogDraft struct {
	Base, Before, After *template.Catalog                `json:"-"`
	own                 map[template.CatalogKey]Revision // as they are
	Entries             []Revision                       `json:"-"` // that become other than they are
	Revision, asOf      int64                            `json:"-"`
	Accounts            []string                         `json:"-"`
	comments            map[template.CatalogKey]bool     // entries of which only comments differ
	Report              Report                           `json:"-"`
}

// WorkOutChange finds what a change does, and all that is wrong with it.
func (a *Service) WorkOutChange(ctx context.Context, actor app.Actor, c Change) (*catalogDraft, error) {
	if a.Reader == nil {
		return nil, ErrNoTenantCatalog
	}
	asOf, err := c.check()
	if err != nil {
		return nil, err
	}
	list, revision, err := a.Own.TenantCatalog(ctx, actor.Tenant)
	if err != nil {
		return nil, err
	}
	d := &catalogDraft{Base: a.Config.Catalog(), own: map[template.CatalogKey]Revision{}, Revision: revision, asOf: asOf}
	d.Report = Report{Problems: []Problem{}, Changes: []Edit{}, Revision: strconv.FormatInt(revision, 10)}
	for _, r := range list {
		d.own[r.CatalogKey] = r
	}
	texts, problems := a.Reader.Split(c.Files)
	d.Report.Problems = append(d.Report.Problems, problems...)
	next, touched := d.lay(actor, c, texts, a.Reader.Compare)
	var standing []Problem
	d.Before, standing = a.Reader.Read(d.Base, actor.Tenant, textsOf(list))
	var found []Problem
	d.After, found = a.Reader.Read(d.Base, actor.Tenant, next)
	if len(next) > MaxCatalogEntries {
		d.problem(Problem{Severity: SeverityError, Message: fmt.Sprintf("This change would leave %d entries; a tenant can have at most %d.", len(next), MaxCatalogEntries)})
	}
	d.judge(found, standing, touched)
	if err := a.checkAccounts(ctx, actor, d); err != nil {
		return nil, err
	}
	if err := a.checkTenantSecrets(ctx, actor, d, touched, c.Coming); err != nil {
		return nil, err
	}
	if err := a.checkTenantIsolation(ctx, d, touched); err != nil {
		return nil, err
	}
	if err := a.describe(ctx, actor, d); err != nil {
		return nil, err
	}
	slices.SortStableFunc(d.Report.Problems, func(x, y Problem) int { return strings.Compare(x.Severity, y.Severity) }) // error, warning
	return d, nil
}

// check refuses what no change can be.
func (c Change) check() (asOf int64, err error) {
	size := 0
	for _, f := range c.Files {
		size += len(f.Text)
		if len(f.Name) > 1000 || !utf8.ValidString(f.Name) {
			return 0, &app.Error{Code: app.EInvalid, Field: "files", Message: "A file name is too long or not valid text."}
		}
	}
	if size > MaxCatalogChange && !c.Whole {
		return 0, &app.Error{Code: app.ETooLarge, Field: "files", Message: fmt.Sprintf("A change can have at most %s of text.", humanize.Bytes(MaxCatalogChange)), Hint: "Split it into several changes."}
	}
	if utf8.RuneCountInString(c.Note) > maxCatalogNote {
		return 0, &app.Error{Code: app.ETooLarge, Field: "note", Message: fmt.Sprintf("Note must be at most %d characters.", maxCatalogNote)}
	}
	for _, k := range c.Remove {
		if err := k.CheckKind(); err != nil {
			return 0, err
		}
	}
	if c.AsOf == "" {
		return -1, nil
	}
	if asOf, err = strconv.ParseInt(c.AsOf, 10, 64); err != nil || asOf < 0 {
		return 0, &app.Error{Code: app.EInvalid, Field: "as_of", Message: fmt.Sprintf("Invalid catalog revision %.40q.", c.AsOf), Hint: "Leave it out, or use the revision from a report."}
	}
	return asOf, nil
}

// lay lays the texts over the own entries as they are. It notes those that become other than they are, and returns all, and where those that
// the change holds are written. Comments are part of what an author saves, so a text with other ones is a new version of the entry; for clusters
// nothing changes by it, since versions of templates are distinguished by what they say. A text that is only laid out otherwise is no version at all.
func (d *catalogDraft) lay(actor app.Actor, c Change, texts []Text, compare func(saved, text string) TextDifference) (next []Text, touched map[template.CatalogKey]Text) {
	touched, d.comments = map[template.CatalogKey]Text{}, map[template.CatalogKey]bool{}
	trusted := actor.Role == app.RoleSuperadmin
	note := strings.TrimSpace(c.Note)
	for _, t := range texts {
		was, had := d.own[t.CatalogKey]
		t.Trusted = trusted
		if c.again != nil {
			t.Coopr = c.again.Coopr
		}
		if c.Lenient[t.CatalogKey] {
			t.Coopr = true
		}
		differs := TextValues
		if had {
			differs = compare(was.Text, t.Text)
		}
		if differs == TextSame {
			t.Coopr = was.Coopr          // it stays as lenient as it was until it is edited
			if !trusted || was.Trusted { // the same text is no new version, unless it becomes trusted by that
				t.Trusted = was.Trusted
				d.Report.Same++
				touched[t.CatalogKey] = t
				continue
			}
		}
		touched[t.CatalogKey] = t
		d.comments[t.CatalogKey] = differs == TextComments
		d.Entries = append(d.Entries, Revision{CatalogKey: t.CatalogKey, Number: was.Number + 1, Note: note, Text: t.Text, Trusted: t.Trusted, Coopr: t.Coopr})
	}
	gone := map[template.CatalogKey]bool{}
	for _, k := range c.Remove {
		if _, had := d.own[k]; !had {
			d.problem(Problem{Severity: SeverityError, CatalogKey: k, Message: "There's nothing to remove: your tenant has no entry of this name."})
			continue
		}
		if _, kept := touched[k]; kept {
			d.problem(Problem{Severity: SeverityError, CatalogKey: k, Message: "An entry can't be saved and deleted in the same change."})
			continue
		}
		gone[k] = true
	}
	if c.Prune {
		for k := range d.own {
			if _, kept := touched[k]; !kept {
				gone[k] = true
			}
		}
	}
	for k := range gone {
		d.Entries = append(d.Entries, Revision{CatalogKey: k, Number: d.own[k].Number + 1, Note: note, Gone: true, Trusted: trusted})
	}
	slices.SortFunc(d.Entries, func(x, y Revision) int { return template.CompareKeys(x.CatalogKey, y.CatalogKey) })
	for k, r := range d.own {
		if _, other := touched[k]; !other && !gone[k] {
			next = append(next, r.entry())
		}
	}
	for _, t := range touched {
		next = append(next, t)
	}
	slices.SortFunc(next, func(x, y Text) int { return template.CompareKeys(x.CatalogKey, y.CatalogKey) })
	return next, touched
}

func (d *catalogDraft) problem(p Problem) { d.Report.Problems = append(d.Report.Problems, p) }

// judge takes over what was found: of what the change holds, with its place in the files; of other own entries as warnings where that was so
// before, too.
func (d *catalogDraft) judge(found, standing []Problem, touched map[template.CatalogKey]Text) {
	type same struct {
		template.CatalogKey
		field, message string
	}
	before := map[same]bool{}
	for _, p := range standing {
		before[same{p.CatalogKey, p.Field, p.Message}] = true
	}
	for _, p := range found {
		if t, ok := touched[p.CatalogKey]; ok {
			switch {
			case t.Line < 0: // it was written in another form
				p.File, p.Line, p.Column = t.File, 0, 0
			case p.File == p.Kind+"/"+p.Name+".yaml":
				p.File = t.File
				if p.Line > 0 {
					p.Line += t.Line
				}
			}
		} else if before[same{p.CatalogKey, p.Field, p.Message}] {
			if p.Severity = SeverityWarning; d.Base.Entry(p.CatalogKey) != nil {
				if _, own := d.own[p.CatalogKey]; !own {
					continue // nothing new of the installation's own
				}
			}
		}
		d.problem(p)
	}
}

// checkAccounts finds providers that become another account than they were, and refuses where something is there.
func (a *Service) checkAccounts(ctx context.Context, actor app.Actor, d *catalogDraft) error {
	for _, e := range d.Entries {
		if e.Kind != template.KindProvider || sameAccount(d.Before.Providers[e.Name], d.After.Providers[e.Name]) {
			continue
		}
		d.Accounts = append(d.Accounts, e.Name)
		use, err := a.Uses.ProviderUse(ctx, actor.Tenant, e.Name)
		if err != nil {
			return err
		}
		if !use.None() {
			refusal := use.Refusal(e.Name)
			d.problem(Problem{Severity: SeverityError, CatalogKey: e.CatalogKey, Message: refusal.Message, Hint: refusal.Hint})
		}
	}
	return nil
}

// sameAccount reports whether two specs are of one account. Which settings tell accounts apart no one but the cloud knows, so all count.
func sameAccount(a, b *template.ProviderSpec) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Type == b.Type && a.Tenant == b.Tenant && template.CatalogText(a.Settings) == template.CatalogText(b.Settings)
}

// checkTenantSecrets warns of secrets that entries refer to and the tenant does not have yet.
func (a *Service) checkTenantSecrets(ctx context.Context, actor app.Actor, d *catalogDraft, touched map[template.CatalogKey]Text, coming map[string]template.SecretPlace) error {
	var have []app.Secret
	asked := false
	for _, e := range d.Entries {
		var names []string
		switch v := d.After.Entry(e.CatalogKey).(type) {
		case *template.ProviderSpec:
			names = app.SecretNames(v.Settings)
		case *template.Template:
			names = app.SecretNames(v.Defaults.Config)
		case *template.Service:
			for _, act := range v.Actions {
				names = append(names, app.SecretNames(act.Fields)...)
			}
		}
		if len(names) > 0 && !asked {
			var err error
			if have, err = a.Uses.Secrets(ctx, actor.Tenant); err != nil {
				return err
			}
			asked = true
		}
		slices.Sort(names)
		for _, n := range slices.Compact(names) {
			if _, comes := coming[n]; !comes && app.SecretPattern.MatchString(n) && !slices.ContainsFunc(have, func(s app.Secret) bool { return s.Name == n }) {
				d.problem(Problem{File: touched[e.CatalogKey].File, Severity: SeverityWarning, CatalogKey: e.CatalogKey,
					Message: fmt.Sprintf("Secret %s doesn't exist in this tenant.", n), Hint: fmt.Sprintf("Set it with `muster secret set %s`, or on the Secrets page.", n)})
			}
		}
	}
	return nil
}
