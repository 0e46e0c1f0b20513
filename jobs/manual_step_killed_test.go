package jobs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/layout"
	"muster/app/template"
)

// The server and its worker die at the end of every step, while people are asked, and just after they have answered: no one is asked
// twice, nothing is answered by itself, and what was typed gets to the steps that speak of it.
func TestManualStepsOutliveServers(t *testing.T) {
	t.Parallel()
	for _, before := range []bool{true, false} {
		t.Run(fmt.Sprintf("before %t", before), func(t *testing.T) {
			m := newMortal(t)
			m.catalog.Services["front"].Actions[app.ActionConfigure] = &template.ServiceAction{Person: &template.Person{Ask: "Type the word for %host.self%.", Timeout: time.Hour,
				Fields: []template.PersonField{{Parameter: template.Parameter{Name: "word", Type: template.ParameterText, Required: true}, Secret: true}}}}
			m.catalog.Services["front"].Actions[app.ActionStart] = script(fmt.Sprintf("echo \"$CONFIG_COLOUR\" >%q/\"$MUSTER_NODE\".word; echo \"it is $CONFIG_COLOUR\"", m.state))
			m.catalog.Templates["web"].Defaults.Config["colour"] = "%answer.front.word%"
			v, err := m.app.Cluster.Creates.CreateCluster(t.Context(), m.admin, cluster.CreateRequest{Name: "shop", Request: layout.Request{Template: "web", Size: 3}})
			if err != nil {
				t.Fatal(err)
			}
			killed := map[string]bool{}
			again := func() {
				m.drop()
				m.live(killed, before)
			}
			again()
			answered := map[string]bool{}
			deadline := time.Now().Add(hangs)
			for {
				if time.Now().After(deadline) {
					t.Fatalf("it has not ended: %v were asked", answered)
				}
				changed, stop := m.store.Watch(app.ClusterTopic(v.ID))
				if v, err = m.app.Cluster.Views.Cluster(t.Context(), m.admin, v.ID); err != nil {
					t.Fatal(err)
				}
				if o := v.Operations[0]; o.Status.Ended() && !m.coord.gone() {
					stop()
					if o.Status == app.OperationFailed && strings.Contains(o.Message, "stopped responding") {
						// Where others died all the time, a step may have lost too many workers. People resume it then.
						if _, err := m.app.Operation.Controls.ResumeOperation(t.Context(), m.admin, v.ID, 0); err != nil {
							t.Fatal(err)
						}
						continue
					}
					if o.Status != app.OperationSucceeded {
						t.Fatalf("creation is %s: %s", o.Status, o.Message)
					}
					break
				}
				if list, err := m.app.Execution.ManualSteps.ManualSteps(t.Context(), m.admin, execution.ManualStepQuery{Mine: true}); err != nil {
					t.Fatal(err)
				} else if len(list) > 0 && !m.coord.gone() {
					stop()
					q := list[0]
					if q.Attempt != 1 || answered[q.Step] {
						t.Fatalf("%s is asked again: %+v", q.Step, q)
					}
					again() // while it is asked
					s := execution.StepAnswer{Operation: q.Operation, Index: q.Index, Attempt: q.Attempt, Values: map[string]any{"word": "sesame-" + q.Node}}
					if _, err := m.app.Execution.ManualSteps.AnswerStep(t.Context(), m.admin, v.ID, s); err != nil {
						t.Fatalf("%s: %v", q.Step, err)
					}
					answered[q.Step] = true
					again() // just after it was answered
					if _, err := m.app.Execution.ManualSteps.AnswerStep(t.Context(), m.admin, v.ID, s); app.AsError(err).Reason != "answered" {
						t.Fatalf("the second answer to %s returned %v", q.Step, err)
					}
					continue
				}
				select {
				case <-m.coord.died:
					again()
				case <-changed:
				case <-time.After(200 * time.Millisecond):
				}
				stop()
			}
			if len(answered) != 2 || m.lives < 8 {
				t.Fatalf("asked were %v, in %d lives", answered, m.lives)
			}
			lines, err := m.app.Cluster.Activity.Logs(t.Context(), m.admin, v.ID, cluster.LogFilter{Limit: 1000})
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range lines {
				if l.Text == "it is sesame-n2" || l.Text == "it is sesame-n3" {
					t.Errorf("the log shows what was typed: %s", l.Text)
				}
			}
			for _, n := range v.Nodes {
				text, err := os.ReadFile(filepath.Join(m.state, n.Name+".word"))
				if has := err == nil; has != answered[n.Name+".front.configure"] || has && string(text) != "sesame-"+n.Name+"\n" {
					t.Errorf("%s has the word %q, %v", n.Name, text, err)
				}
			}
		})
	}
}
