package quota

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"muster/app"
	"muster/app/template"
	"muster/app/usage"
	"muster/portal/page"
	"muster/portal/site"
)

type usageInput struct {
	From   string         `query:"from" maxLength:"64" doc:"Day or time, in UTC unless it has a zone; default: start of this month"`
	To     string         `query:"to" maxLength:"64" doc:"Day or time, in UTC unless it has a zone; default: now"`
	By     usage.GroupBy  `query:"by" maxLength:"70" doc:"Grouping of the sums: none, tenant, user, template, provider, hardware, cluster, or label: and a label's key, such as label:cost-centre"`
	Step   usage.Interval `query:"step" enum:"none,hour,day,week,month,year" doc:"Calendar interval in UTC; weeks start on Monday"`
	All    bool           `query:"all" doc:"Usage of all tenants, for superadmins"`
	Format string         `query:"format" enum:"json,csv" doc:"Format; default: by the Accept header"`
	Accept string         `header:"Accept" hidden:"true"`
}

// usageOutput is JSON or CSV.
type usageOutput struct {
	ContentType string `header:"Content-Type"`
	Disposition string `header:"Content-Disposition"`
	Body        []byte
}

// UsageForms documents the answer's formats. newAPI adds the schema to the document.
func UsageForms(o *huma.Operation) {
	o.Responses = map[string]*huma.Response{"304": {Description: http.StatusText(http.StatusNotModified)}, "200": {Description: "Usage and costs", Content: map[string]*huma.MediaType{
		"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/Usage"}}, "text/csv": {Schema: &huma.Schema{Type: huma.TypeString}}}}}
}

func (p *Service) apiUsage(ctx context.Context, in *usageInput) (*usageOutput, error) {
	f, err := usageFilter(url.Values{"from": {in.From}, "to": {in.To}, "by": {string(in.By)}, "step": {string(in.Step)}})
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	u, err := p.usage(ctx, site.Caller(ctx), f, in.All)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	if in.Format == "csv" || in.Format == "" && strings.Contains(in.Accept, "text/csv") {
		return &usageOutput{ContentType: "text/csv; charset=utf-8", Disposition: `attachment; filename="usage.csv"`, Body: u.CSV()}, nil
	}
	b, err := json.Marshal(u)
	return &usageOutput{ContentType: "application/json", Body: b}, err
}

func (p *Service) usage(ctx context.Context, a app.Actor, f usage.Filter, all bool) (usage.Usage, error) {
	if all {
		return p.Usage.UsageOfAll(ctx, a, f)
	}
	return p.Usage.Usage(ctx, a, f)
}

// usageFilter parses a query. An end that is a day includes that day.
func usageFilter(q url.Values) (f usage.Filter, err error) {
	f.By, f.Step = usage.GroupBy(q.Get("by")), usage.Interval(q.Get("step"))
	read := func(field string, into *time.Time) {
		text := strings.TrimSpace(q.Get(field))
		if text == "" || err != nil {
			return
		}
		if *into, err = template.ParseMoment(text); err != nil {
			app.AsError(err).Field = field
		}
		if field == "to" && len(text) == len(time.DateOnly) {
			*into = into.AddDate(0, 0, 1)
		}
	}
	read("from", &f.From)
	read("to", &f.To)
	return f, err
}

func (p *Service) usageShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	q := r.URL.Query()
	v := Usage{Now: p.Now(), Actor: a, All: q.Get("all") == "true", MayAll: a.May("UsageOfAll"), SeesOthers: a.May("Quotas")}
	if !q.Has("by") {
		q.Set("by", string(usage.ByTemplate))
		if v.SeesOthers {
			q.Set("by", string(usage.ByUser))
		}
	}
	if !q.Has("step") {
		q.Set("step", string(usage.IntervalDay))
	}
	v.By, v.Step = usage.GroupBy(q.Get("by")), usage.Interval(q.Get("step"))
	var err error
	v.Range, err = usageRange(q, p.Now())
	v.From, v.To = q.Get("from"), q.Get("to")
	var f usage.Filter
	if err == nil {
		f, err = usageFilter(q)
	}
	part := r.Header.Get("Muster-Part") != ""
	if err == nil && !part && q.Get("format") != "csv" && q.Get("whole") != "true" {
		// Invalid queries are refused now, even if the sums load later.
		if err = f.Check(p.Now()); err == nil {
			v.Later = p.usageLater(r, a)
		}
	}
	if err == nil && !v.Later {
		v.Usage, err = p.usage(r.Context(), a, f, v.All)
	}
	status := http.StatusOK
	if e := app.AsError(err); err != nil && (e.Code == app.EInvalid || e.Code == app.ETooLarge) {
		status, v.Error, v.ErrorAt = http.StatusUnprocessableEntity, page.Complaint{Message: e.Message, Hint: e.Hint}, e.Field
	} else if err != nil {
		return err
	}
	if q.Get("format") == "csv" && err == nil {
		w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		w.Header().Set("Content-Disposition", `attachment; filename="usage.csv"`)
		_, _ = w.Write(v.Usage.CSV())
		return nil
	}
	if v.Labels, err = p.usageLabels(r, a, v.By, err); err == nil && !v.Later {
		if v.Ahead, err = p.ahead(r.Context(), a, v); err != nil {
			return err
		}
		if !v.All {
			saved, err := p.Idle.IdleSavings(r.Context(), a, v.Usage.From, v.Usage.To)
			if err != nil {
				return err
			}
			v.Saved = &saved
		}
	}
	fr := p.Frame(r, "Usage")
	fr.At = "usage"
	if v.Later {
		fr.Scripts = []string{"home.js"}
	}
	if part && status == http.StatusOK {
		p.Render(w, r, status, UsageSums(v))
		return nil
	}
	p.Render(w, r, status, UsagePage(fr, v))
	return nil
}

// usageLater reports whether the page comes before its sums: then a script loads them, or without scripts a link.
func (p *Service) usageLater(r *http.Request, a app.Actor) bool {
	many, err := p.Quotas.ManyMachines(r.Context(), a)
	if err != nil {
		p.LogError(r, err, http.StatusInternalServerError)
	}
	return many
}

// usageLabels are the keys of labels to group by, the chosen one among them. An error of before is kept.
func (p *Service) usageLabels(r *http.Request, a app.Actor, by usage.GroupBy, before error) ([]string, error) {
	keys, err := p.Usage.UsageLabels(r.Context(), a)
	if key := by.Label(); key != "" && !slices.Contains(keys, key) {
		keys = append(keys, key)
	}
	if before != nil {
		return keys, before
	}
	return keys, err
}

// MonthCost is the cost of the actor's machines this month so far; nil if unknown. The list of clusters works without, so errors are
// only logged.
func (p *Service) MonthCost(r *http.Request, a app.Actor) *usage.Sum {
	if !a.May("Usage") {
		return nil
	}
	u, err := p.Usage.Usage(r.Context(), a, usage.Filter{Mine: true})
	if err != nil {
		p.LogError(r, err, http.StatusInternalServerError)
		return nil
	}
	return &u.Total
}
