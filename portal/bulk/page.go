package bulk

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/bulk"
	"muster/app/humanize"
	"muster/app/template"
	"muster/portal/page"
	"muster/portal/site"
)

// defaultBy is by how much leases are extended where nothing was chosen.
const defaultBy = 8 * time.Hour

// Page asks for confirmation, or shows the result.
type Page struct {
	Report bulk.Report
	By     string // of an extension, as typed
	Reason string
	Done   bool
	Admin  bool
	Error  page.Complaint
}

// ask shows what would happen to the selected clusters.
func (p *Service) ask(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	q := r.URL.Query()
	if !q.Has("id") || !q.Has("action") {
		http.Redirect(w, r, "/clusters", http.StatusSeeOther)
		return nil
	}
	view := Page{By: strings.TrimSpace(q.Get("by")), Reason: strings.TrimSpace(q.Get("reason")), Admin: a.May("SetQuota")}
	ask := bulk.Ask{Action: bulk.Action(q.Get("action")), Targets: bulk.Targets(unique(q["id"])), Reason: view.Reason}
	status := http.StatusOK
	if ask.Action == bulk.Extend {
		var err error
		if ask.By, err = lengthOf(view.By); err != nil {
			e := app.AsError(err)
			status, view.Error, ask.By = http.StatusUnprocessableEntity, page.Complaint{Message: e.Message, Hint: e.Hint}, defaultBy
		} else if view.By == "" {
			view.By = humanize.DurationField(ask.By)
		}
	}
	var err error
	if view.Report, err = p.Bulk.PreviewBulk(r.Context(), a, ask); err != nil {
		return err
	}
	p.show(w, r, status, view)
	return nil
}

// lengthOf reads by how much leases are extended.
func lengthOf(text string) (time.Duration, error) {
	if text == "" {
		return defaultBy, nil
	}
	by, err := template.ParseLength(text)
	if err == nil && by <= 0 {
		err = &app.Error{Code: app.EInvalid, Field: "by", Message: "The duration must be more than 0.", Hint: "To shorten a lease, open its cluster."}
	}
	return by, err
}

// run does it, and shows the result of each cluster. Reloading the result does nothing twice: each cluster comes with the lease or plan that was shown.
func (p *Service) run(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	targets, err := targetsOf(r.PostForm)
	if err != nil {
		return err
	}
	ask := bulk.Ask{Action: bulk.Action(r.PostForm.Get("action")), Targets: targets, Reason: r.PostForm.Get("reason")}
	report, err := p.Bulk.RunBulk(r.Context(), a, ask)
	if err != nil {
		return err
	}
	for _, x := range report.Results {
		if x.Err != nil {
			if _, is := site.Known(x.Err); is.Status >= http.StatusInternalServerError {
				p.LogError(r, x.Err, is.Status)
			}
		}
	}
	p.show(w, r, http.StatusOK, Page{Report: report, Done: true})
	return nil
}

// targetsOf reads the clusters of a form. What was shown of the one with ID x is in the fields until:x and plan:x.
func targetsOf(f url.Values) (list []bulk.Target, err error) {
	for _, id := range unique(f["id"]) {
		t := bulk.Target{ID: id, PlanHash: f.Get("plan:" + id)}
		if text := f.Get("until:" + id); text != "" {
			if t.Until, err = time.Parse(time.RFC3339, text); err != nil {
				return nil, &app.Error{Code: app.EInvalid, Field: "until:" + id, Message: "Invalid time.", Hint: "Open the page again."}
			}
		}
		list = append(list, t)
	}
	return list, nil
}

// unique drops repetitions, and keeps the order.
func unique(ids []string) (list []string) {
	for _, id := range ids {
		if !slices.Contains(list, id) {
			list = append(list, id)
		}
		if len(list) > bulk.Most {
			break // which is refused
		}
	}
	return list
}

func (p *Service) show(w http.ResponseWriter, r *http.Request, status int, view Page) {
	f := p.Frame(r, view.name())
	f.At = "clusters"
	p.Render(w, r, status, ConfirmPage(f, view))
}

// name is the action for people.
func (v Page) name() string {
	return map[bulk.Action]string{bulk.Extend: "Extend leases", bulk.Sleep: "Put clusters to sleep", bulk.Wake: "Wake clusters",
		bulk.Delete: "Delete clusters"}[v.Report.Action]
}

// going are the clusters to which it will be done, or was done.
func (v Page) going() []bulk.Result {
	return v.with(bulk.Ready, bulk.Approval, bulk.Done)
}

func (v Page) with(outcomes ...bulk.Outcome) (list []bulk.Result) {
	for _, o := range outcomes {
		for _, r := range v.Report.Results {
			if r.Outcome == o {
				list = append(list, r)
			}
		}
	}
	return list
}

func (v Page) title() string {
	n := len(v.going())
	if v.Done {
		var parts []string
		for _, part := range []struct {
			outcome bulk.Outcome
			word    string
		}{{bulk.Done, "done"}, {bulk.Requested, "requested"}, {bulk.Unchanged, "unchanged"}, {bulk.Refused, "refused"}} {
			if n := v.Report.Count(part.outcome); n > 0 {
				parts = append(parts, humanize.CountOf(n, part.word, part.word))
			}
		}
		return v.name() + ": " + humanize.And(parts)
	}
	all := humanize.Count(n, "cluster")
	switch v.Report.Action {
	case bulk.Extend:
		return "Extend " + humanize.CountOf(n, "lease", "leases") + " by " + v.byWords() + "?"
	case bulk.Sleep:
		return "Put " + all + " to sleep?"
	case bulk.Wake:
		return "Wake " + all + "?"
	}
	return "Delete " + all + "?"
}

// button is the verb with its object.
func (v Page) button() string {
	n := len(v.going())
	all := humanize.Count(n, "cluster")
	switch v.Report.Action {
	case bulk.Extend:
		return "Extend " + humanize.CountOf(n, "lease", "leases")
	case bulk.Sleep:
		return "Put " + all + " to sleep"
	case bulk.Wake:
		return "Wake " + all
	}
	return "Delete " + all
}

func (v Page) byWords() string {
	by, err := lengthOf(v.By)
	if err != nil {
		by = defaultBy
	}
	return humanize.Duration(by)
}

// nothing is the heading where it can be done to none of them.
func (v Page) nothing() string {
	return map[bulk.Action]string{bulk.Extend: "No lease to extend", bulk.Sleep: "No cluster to put to sleep",
		bulk.Wake: "No cluster to wake", bulk.Delete: "Nothing to delete"}[v.Report.Action]
}

// costLine says what it costs or saves; "" where that isn't known.
func (v Page) costLine() string {
	var hour, sum float64
	currency := ""
	for _, r := range v.going() {
		hour, sum = hour+r.PerHour, sum+r.Cost
		currency = r.Currency
	}
	switch {
	case sum > 0:
		return "If the clusters keep running, this costs up to " + humanize.Money(sum, currency) + " more."
	case hour > 0:
		return "This costs " + humanize.PerHour(hour, currency) + " more."
	case hour < 0:
		return "This saves " + humanize.PerHour(-hour, currency) + "."
	}
	return ""
}

// nodes is the number of machines that are deleted.
func (v Page) nodes() (n int) {
	for _, r := range v.going() {
		n += r.Nodes
	}
	return n
}

// cost is that of one cluster.
func cost(r bulk.Result) string {
	switch {
	case r.Cost > 0:
		return "up to " + humanize.Money(r.Cost, r.Currency) + " more"
	case r.PerHour > 0:
		return humanize.PerHour(r.PerHour, r.Currency) + " more"
	case r.PerHour < 0:
		return "saves " + humanize.PerHour(-r.PerHour, r.Currency)
	}
	return ""
}

// outcome is the word on a cluster's label, and mark its colour.
func outcome(r bulk.Result) string {
	return map[bulk.Outcome]string{bulk.Ready: "Ready", bulk.Approval: "Request", bulk.Done: "Done", bulk.Requested: "Requested", bulk.Unchanged: "No change",
		bulk.Refused: "Refused"}[r.Outcome]
}

func mark(r bulk.Result) string {
	switch r.Outcome {
	case bulk.Done, bulk.Ready:
		return string(app.StepSucceeded)
	case bulk.Requested, bulk.Approval:
		return string(app.StepReady)
	case bulk.Refused:
		return string(app.StepFailed)
	}
	return string(app.StepWaiting)
}

// until is the lease's end that is confirmed; "" for other actions.
func (v Page) until(r bulk.Result) string {
	if v.Report.Action != bulk.Extend {
		return ""
	}
	return page.Machine(r.Until)
}

func costPart(r bulk.Result) string {
	if c := cost(r); c != "" {
		return ", " + c
	}
	return ""
}
