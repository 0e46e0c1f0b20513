//go:build real

package portal

import (
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"muster/app"
	"muster/app/usage"
	"muster/portal/portaltest"

	"github.com/chromedp/chromedp"
)

// TestBrowserUsage opens a month with a forecast within the budget, and one over it.
func TestBrowserUsage(t *testing.T) {
	now := time.Date(2030, 5, 17, 14, 0, 0, 0, time.UTC)
	f := newFakeQuotas(newFake(time.Now))
	f.usage = usage.Usage{From: app.MonthOf(now).Start, To: now}
	for day := range 17 {
		for k := range 11 {
			sum := usage.Sum{NodeHours: float64(20 + (day*7+k*5)%19), Cost: float64(3+(day*5+k*3)%11) / float64(k+2), CoreHours: 80}
			f.usage.Lines = append(f.usage.Lines, usage.Line{Start: app.MonthOf(now).Start.AddDate(0, 0, day), Key: fmt.Sprintf("template-%d", k), Sum: sum})
			f.usage.Total.Cost, f.usage.Total.NodeHours, f.usage.Total.CoreHours = f.usage.Total.Cost+sum.Cost, f.usage.Total.NodeHours+sum.NodeHours, f.usage.Total.CoreHours+80
		}
	}
	foresee := func(budget float64) {
		u := usage.ComputeForecast([]usage.Commitment{{PerHour: 0.3}, {PerHour: 0.3, Until: now.Add(100 * time.Hour)}}, now, app.MonthOf(now).End)
		u.Budget = &budget
		f.ahead = &u
	}
	foresee(480)
	p := New(Config{UseCases: useCases(f.fake, f), Version: "1.0.0", Logger: quiet()})
	srv := httptest.NewServer(p)
	t.Cleanup(func() { _ = p.Close(); srv.Close() })
	b := portaltest.Open(t, srv.URL)
	b.Open("/signin")
	b.Do(chromedp.SendKeys(chromedp.ID("user"), "root"), chromedp.SendKeys(chromedp.ID("password"), "correct horse"), chromedp.Submit(chromedp.ID("password")))
	b.Until(`location.pathname!="/signin"`)
	b.Open("/usage?by=template")
	b.Until(`document.querySelectorAll(".month-chart .month-ahead").length==15 && document.querySelectorAll(".month-budget").length==1`)
	b.Shoot("usage")
	foresee(380)
	b.Open("/usage?by=provider")
	b.Until(`document.querySelector(".usage-over").textContent.includes("exceed")`)
	b.Open("/usage?from=never&to=2030-05-01")
	b.Until(`document.querySelector("#err-from").textContent.includes("never")`)
	b.Shoot("usage-refused")
}
