package portal

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/usage"
)

// foresee adds a forecast and a budget to a treasurer.
func (f *fakeQuotas) foresee(perHour, budget float64) {
	now := f.fake.now()
	u := usage.ComputeForecast([]usage.Commitment{{PerHour: perHour, Until: now.AddDate(0, 0, 9)}, {PerHour: perHour / 2}}, now, app.MonthOf(now).End)
	u.Budget = &budget
	f.ahead = &u
	f.usage.From = app.MonthOf(now).Start
}

func TestUsageForecast(t *testing.T) {
	s, f := treasury(t, "root")
	f.foresee(0.1, 100)
	a := s.get("/usage")
	a.reads(http.StatusOK, "This month Last month Last 7 days", "Cost so far 9.50", "Forecast", "Budget left 90.50", "of the budget of 100.00.", "spent so far forecast budget of 100.00", "Daily costs", "assumes that no cluster is created, deleted or extended", "Month to date")
	if last := f.asked[len(f.asked)-1]; !last.From.Equal(app.MonthOf(f.fake.now()).Start) || !last.To.IsZero() {
		t.Errorf("this month is %+v", last)
	}
	f.foresee(9, 100)
	s.get("/usage?step=week").reads(http.StatusOK, "Forecast", "Budget left")
	s.get("/usage").reads(http.StatusOK, "The forecast exceeds the budget of 100.00")
	s.get("/usage?all=true").reads(http.StatusOK, "Forecast")
	s.get("/usage?all=true").lacks("Budget left")
	a = s.get("/usage?range=last-month&by=provider")
	a.reads(http.StatusOK, "Cost 9.50")
	a.lacks("Forecast")
	if last := f.asked[len(f.asked)-1]; !last.From.Equal(time.Date(2030, 4, 1, 0, 0, 0, 0, time.UTC)) || !last.To.Equal(time.Date(2030, 5, 1, 0, 0, 0, 0, time.UTC)) || last.By != usage.ByProvider {
		t.Errorf("the last month is %+v", last)
	}
	s.get("/usage?range=week").lacks("Forecast")
	if last := f.asked[len(f.asked)-1]; !last.From.Equal(time.Date(2030, 4, 25, 0, 0, 0, 0, time.UTC)) || !last.To.IsZero() {
		t.Errorf("the last seven days are %+v", last)
	}
	// A user who sees the tenant's sums gets no forecast, which would cover only their own clusters.
	f.usage.User = "ada"
	s.get("/usage").lacks("Forecast")
}

func TestUsageRefusesBesideTheField(t *testing.T) {
	s, _ := treasury(t, "root")
	a := s.get("/usage?from=yester%3Cday&to=2030-05-01&by=provider&step=week")
	a.reads(http.StatusUnprocessableEntity, "Invalid time")
	got := a.fields()
	if got.Get("from") != "yester<day" || got.Get("to") != "2030-05-01" {
		t.Errorf("what was typed is lost: %v", got)
	}
	field := a.body[strings.Index(a.body, `id="err-from"`):]
	if field = field[:strings.Index(field, "</p>")]; !strings.Contains(field, "Invalid time") || !strings.Contains(a.body, `type="text" name="from"`) {
		t.Errorf("the message is not beside the field: %s", field)
	}
	s.get("/usage?range=century").reads(http.StatusUnprocessableEntity, "Unknown period.")
}

// With very many clusters the page comes before its sums, which a script or a link loads.
func TestUsageOfManyClustersComesLater(t *testing.T) {
	s, f := treasury(t, "root")
	f.many = true
	f.asked = nil
	a := s.get("/usage?by=provider")
	a.reads(http.StatusOK, "it takes a moment", "Load usage")
	a.lacks("Node hours", "Cost so far")
	n := a.find("usage-sums")
	if n == nil || len(f.asked) != 0 {
		t.Fatalf("no part loads later, or the sums were already computed: %v", f.asked)
	}
	where := attr(n, "data-fill")
	part := s.get(where, "Muster-Part", "cost")
	part.reads(http.StatusOK, "Node hours", "Details")
	if strings.Contains(part.body, "<html") || len(f.asked) == 0 || f.asked[0].By != usage.ByProvider {
		t.Errorf("the part is a whole page: %v", f.asked)
	}
	s.get(where).reads(http.StatusOK, "Usage", "Download CSV", "Node hours", "Details")
	s.get("/usage?from=2031-01-01").reads(http.StatusUnprocessableEntity)
	if csv := s.get("/usage?format=csv"); !strings.HasPrefix(csv.header.Get("Content-Type"), "text/csv") {
		t.Errorf("a file is %s", csv.header.Get("Content-Type"))
	}
}
