package scaling

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/scaling"
	"muster/app/template"
	"muster/portal/page"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

func (p *Service) show(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showPage(w, r, a, http.StatusOK, nil, page.Complaint{})
}

func (p *Service) showPage(w http.ResponseWriter, r *http.Request, a app.Actor, status int, typed *form, bad page.Complaint) error {
	c, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	v, err := p.Scaling.ClusterScaling(r.Context(), a, c.ID)
	if err != nil {
		return err
	}
	s := newShow(p.Now(), v, c.Cluster, typed, bad)
	f := p.Frame(r, "Scaling of "+c.Name)
	f.At = "clusters"
	p.Render(w, r, status, Page(f, s))
	return nil
}

// set reads what a button of the page wants: rules, the template's rules, or none.
func (p *Service) set(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	id := chi.URLParam(r, "id")
	var typed form
	var s scaling.Setting
	switch r.PostForm.Get("do") {
	case "inherit":
	case "off":
		s.Off = true
	default:
		typed = read(r.PostForm)
		rules, err := typed.rules()
		if err != nil {
			e := app.AsError(err)
			return p.showPage(w, r, a, http.StatusUnprocessableEntity, &typed, page.Complaint{Message: e.Message, Hint: e.Hint})
		}
		s.Rules = rules
	}
	_, err := p.Scaling.SetClusterScaling(r.Context(), a, id, s)
	if e := app.AsError(err); err != nil && s.Rules != nil && (e.Code == app.EInvalid || e.Reason == "address" || e.Reason == "plain") {
		return p.showPage(w, r, a, http.StatusUnprocessableEntity, &typed, page.Complaint{Message: e.Message, Hint: e.Hint})
	}
	if err != nil {
		return err
	}
	return back(w, r, id)
}

func (p *Service) resume(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	id := chi.URLParam(r, "id")
	if _, err := p.Scaling.ResumeScaling(r.Context(), a, id); err != nil {
		return err
	}
	return back(w, r, id)
}

func back(w http.ResponseWriter, r *http.Request, id string) error {
	http.Redirect(w, r, "/clusters/"+url.PathEscape(id)+"/scaling", http.StatusSeeOther)
	return nil
}

// form is what was typed.
type form struct {
	Min, Max, Step, Brake, Up, Down, Every string
	DryRun                                 bool
	Times                                  []timeRow
	Metrics                                []metricRow
}

type timeRow struct{ At, Zone, What, Nodes string }

type metricRow struct{ Name, URL, Query, Above, Below, Target, Samples string }

// read reads the form. Rows that are empty are left out.
func read(in url.Values) form {
	f := form{Min: in.Get("min"), Max: in.Get("max"), Step: in.Get("step"), Brake: in.Get("brake"), Up: in.Get("up"), Down: in.Get("down"),
		Every: in.Get("every"), DryRun: in.Get("dry_run") != ""}
	at := func(name string, i int) string {
		if list := in[name]; i < len(list) {
			return strings.TrimSpace(list[i])
		}
		return ""
	}
	for i := range in["at"] {
		t := timeRow{At: at("at", i), Zone: at("zone", i), What: at("what", i), Nodes: at("nodes", i)}
		if (t.At != "" || t.Nodes != "") && len(f.Times) <= template.MostScalingTimes {
			f.Times = append(f.Times, t)
		}
	}
	for i := range in["metric"] {
		m := metricRow{Name: at("metric", i), URL: at("url", i), Query: at("query", i), Above: at("above", i), Below: at("below", i), Target: at("target", i),
			Samples: at("samples", i)}
		if m != (metricRow{}) && len(f.Metrics) <= template.MostScalingMetrics {
			f.Metrics = append(f.Metrics, m)
		}
	}
	return f
}

func notNumber(what, text string) error {
	return &app.Error{Code: app.EInvalid, Message: what + ": " + strconv.Quote(cut(text)) + " isn't a number.", Hint: "Enter a number, such as 3."}
}

func cut(text string) string {
	if r := []rune(text); len(r) > 40 {
		return string(r[:40])
	}
	return text
}

// rules makes rules of what was typed.
func (f form) rules() (*template.ScalingPolicy, error) {
	p := &template.ScalingPolicy{CoolDownUp: strings.TrimSpace(f.Up), CoolDownDown: strings.TrimSpace(f.Down), Every: strings.TrimSpace(f.Every), DryRun: f.DryRun}
	number := func(what, text string, to *int) error {
		if text = strings.TrimSpace(text); text == "" {
			return nil
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return notNumber(what, text)
		}
		*to = n
		return nil
	}
	if err := cmp.Or(number("Minimum", f.Min, &p.Min), number("Maximum", f.Max, &p.Max), number("Step", f.Step, &p.Step),
		number("Brake", f.Brake, &p.Brake)); err != nil {
		return nil, err
	}
	for _, row := range f.Times {
		t := template.ScalingTime{At: row.At, Zone: row.Zone}
		to := &t.Nodes
		if row.What == "min" {
			to = &t.Min
		}
		if err := number("Nodes of the schedule", row.Nodes, to); err != nil {
			return nil, err
		}
		p.Schedule = append(p.Schedule, t)
	}
	for _, row := range f.Metrics {
		m := template.ScalingMetric{Name: row.Name, URL: row.URL, Query: row.Query}
		if err := number("Measurements of "+cut(row.Name), row.Samples, &m.Samples); err != nil {
			return nil, err
		}
		for _, x := range []struct {
			text string
			to   **float64
		}{{row.Above, &m.Above}, {row.Below, &m.Below}, {row.Target, &m.Target}} {
			if x.text == "" {
				continue
			}
			v, err := strconv.ParseFloat(x.text, 64)
			if err != nil {
				return nil, notNumber("Metric "+cut(row.Name), x.text)
			}
			*x.to = &v
		}
		p.Metrics = append(p.Metrics, m)
	}
	return p, nil
}
