package cluster

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	"muster/app"
	appplan "muster/app/plan"
	"muster/portal/plan"
)

// TestBarsAreExplained: each kind of bar has a colour, a pattern of its own and a place in the legend, and each bar a name, for people who see
// colours differently or don't see the picture.
func TestBarsAreExplained(t *testing.T) {
	source, err := os.ReadFile("../../app/plan.go")
	if err != nil {
		t.Fatal(err)
	}
	style, err := os.ReadFile("../static/assets/app.css")
	if err != nil {
		t.Fatal(err)
	}
	actions := regexp.MustCompile(`Action = "(\w+)"`).FindAllSubmatch(source, -1)
	if len(actions) < 17 {
		t.Fatalf("only %d actions are known", len(actions))
	}
	p, marks := appplan.Plan{}, map[string]app.Action{}
	var steps []app.Step
	began := time.Unix(1_800_000_000, 0)
	for i, m := range actions {
		a := app.Action(m[1])
		mark, known := plan.BarMarks[a]
		if other, taken := marks[mark]; !known || taken {
			t.Errorf("%s has the pattern %q, as %q has", a, mark, other)
		}
		marks[mark] = a
		if !strings.Contains(string(style), ".a-"+string(a)+" {") {
			t.Errorf("%s has no colour", a)
		}
		p.Steps = append(p.Steps, appplan.Step{Node: "n1", Action: a, Rank: time.Minute})
		steps = append(steps, app.Step{Index: i, Node: "n1", Action: a, State: app.StepSucceeded, Attempt: 1, StartedAt: began, EndedAt: began.Add(time.Minute)})
	}
	op := app.Operation{Status: app.OperationSucceeded, StartedAt: began, EndedAt: began.Add(time.Hour)}
	for name, picture := range map[string]templ.Component{
		"a plan":       plan.TimelinePicture(plan.NewTimeline(p)),
		"an operation": GanttPicture(Show{Steps: steps, Gantt: plan.NewGantt(began.Add(time.Hour), op, steps, nil, plan.GanttQuery{})}),
	} {
		var b strings.Builder
		if err := picture.Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		bars := regexp.MustCompile(`<rect role="img"[^>]*><title>[^<]+</title>`).FindAllString(b.String(), -1)
		if len(bars) != len(actions) {
			t.Errorf("%s has %d bars with a name for %d steps", name, len(bars), len(actions))
		}
		_, legend, _ := strings.Cut(b.String(), `class="legend"`)
		for _, m := range actions {
			if a := string(m[1]); !strings.Contains(legend, `fill="url(#bar-`+a+`)"`) || !strings.Contains(legend, "</svg> "+a+"</span>") || strings.Count(b.String(), `id="bar-`+a+`"`) != 1 {
				t.Errorf("the legend of %s doesn't explain %s", name, a)
			}
		}
	}
}
