package jobs_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/operation"
	"muster/app/template"
	"muster/automators/shell"
)

// files is an automator that keeps a file as it should be, and can say whether it is.
type files struct{ shell.Shell }

func (files) path(call family.ServiceCall) string {
	return filepath.Join(call.Fields["dir"], call.Node)
}

func (f files) Run(ctx context.Context, sh family.Shell, call family.ServiceCall, _ family.Output) error {
	if call.Fields["text"] == "wrong name" {
		call.Tell(map[string]string{"Not-A-Name": "x"})
		return nil
	}
	if err := sh.Put(ctx, f.path(call), 0o600, strings.NewReader(call.Fields["text"])); err != nil {
		return err
	}
	call.Tell(map[string]string{"join_token": "token-of-" + call.Node, "at": f.path(call)})
	return nil
}

func (f files) DryRun(ctx context.Context, sh family.Shell, call family.ServiceCall, _ family.Output) (c family.Changes, err error) {
	if call.Action != app.ActionConfigure {
		return c, app.Errorf(app.EInternal, "asked about %s", call.Action)
	}
	var is []string
	exit, err := sh.Run(ctx, family.Command{Line: "cat " + humanize.ShellQuote(f.path(call))}, func(s app.Stream, line string) {
		if s == family.StreamOut {
			is = append(is, line)
		}
	})
	switch {
	case err != nil:
		return c, err
	case exit != 0:
		return c, app.Errorf(app.EScript, "%s cannot be read.", call.Node)
	case strings.Join(is, "\n") != call.Fields["text"]:
		c.Add("the file says " + strings.Join(is, "\n"))
	}
	return c, nil
}

// kept has the service back keep files in a directory, and front read its facts.
func kept(dir string) func(e *engine, c *template.Catalog) {
	return func(e *engine, c *template.Catalog) {
		c.Services["back"].Actions[app.ActionConfigure] = &template.ServiceAction{Automator: "files", Fields: map[string]string{"dir": dir, "text": "as it should be"}}
		c.Services["front"].Actions[app.ActionStart] = script("echo \"got $CONFIG_TOKEN $CONFIG_AT\" >>" + humanize.ShellQuote(e.effect) + "\necho \"the token is $CONFIG_TOKEN\"\n")
		c.Templates["web"].Defaults.Config = map[string]any{"token": "%fact.back.join_token%", "at": "%fact.back.at%", "never": "%fact.back.nothing%"}
	}
}

func withFiles(t *testing.T, dir string) *engine {
	e := newEngine(t, kept(dir))
	dry := func(automator string) bool { return automator == "files" }
	e.app.Operation.Builder.DryRuns, e.app.Operation.Drifts.DryRuns, e.app.Execution.Coordinator.DryRuns = dry, dry, dry
	e.worker.Automators["files"] = files{}
	return e
}

func TestFactsReachLaterSteps(t *testing.T) {
	dir := t.TempDir()
	e := withFiles(t, dir)
	v := e.await(e.create(3).ID)
	e.want(v, app.ClusterActive)
	facts, err := e.app.Execution.Facts.ClusterFacts(e.ctx, e.admin, v.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(facts) != 2 || facts[0].Name != "at" || facts[0].Value != filepath.Join(dir, facts[0].Node) || facts[1].Name != "join_token" || !facts[1].Secret || facts[1].Value != "" {
		t.Errorf("people see %+v", facts)
	}
	want := "got token-of-" + facts[0].Node + " " + facts[0].Value
	if got := slices.DeleteFunc(e.effects(), func(s string) bool { return s != want }); len(got) != 2 {
		t.Errorf("both fronts should have got %q: %q", want, e.effects())
	}
	lines, err := e.app.Cluster.Activity.Logs(e.ctx, e.admin, v.ID, cluster.LogFilter{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	said := false
	for _, l := range lines {
		said = said || strings.Contains(l.Text, "the token is ")
		if strings.Contains(l.Text, "token-of-") {
			t.Errorf("the log shows the token: %s", l.Text)
		}
	}
	if !said {
		t.Error("the step that speaks of the token has no log")
	}
}

func TestFactsWithWrongNamesFailTheStep(t *testing.T) {
	e := newEngine(t, func(e *engine, c *template.Catalog) {
		kept(t.TempDir())(e, c)
		c.Services["back"].Actions[app.ActionConfigure].Fields["text"] = "wrong name"
	})
	e.worker.Automators["files"] = files{}
	v := e.await(e.create(2).ID)
	e.want(v, app.ClusterFailed)
	if !strings.Contains(v.Operations[0].Message, "Not-A-Name") {
		t.Errorf("the message is %q", v.Operations[0].Message)
	}
}

func TestDryRunReportsChangesWithoutApplying(t *testing.T) {
	dir := t.TempDir()
	e := withFiles(t, dir)
	v := e.await(e.create(3).ID)
	e.want(v, app.ClusterActive)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	file, node := filepath.Join(dir, entries[0].Name()), entries[0].Name()
	drift := func() (texts []string) {
		t.Helper()
		d, err := e.app.Operation.Drifts.Drift(e.ctx, e.admin, v.ID)
		if err != nil {
			t.Fatal(err)
		}
		if !d.Comparable {
			t.Error("it can be compared")
		}
		for _, i := range d.Items {
			if i.From == operation.DriftService {
				texts = append(texts, i.Text)
			}
		}
		return texts
	}
	compare := func() {
		t.Helper()
		p, err := e.app.Operation.Updates.PreviewUpdate(e.ctx, e.admin, v.ID, cluster.Update{Kind: app.OperationCompare})
		if err != nil {
			t.Fatal(err)
		}
		if acts := p.Plan.Acts(); acts != 1 || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "Skips front") {
			t.Errorf("%d steps, %q", acts, p.Notes)
		}
		if _, err := e.app.Operation.Updates.Update(e.ctx, e.admin, v.ID, cluster.Update{Kind: app.OperationCompare}); err != nil {
			t.Fatal(err)
		}
		e.want(e.await(v.ID), app.ClusterActive)
	}
	compare()
	if got := drift(); len(got) != 0 {
		t.Errorf("as it was set up there is drift: %q", got)
	}
	if err := os.WriteFile(file, []byte("edited by hand"), 0o600); err != nil {
		t.Fatal(err)
	}
	compare()
	if got := drift(); len(got) != 1 || got[0] != "back on "+node+" would change: the file says edited by hand" {
		t.Errorf("the drift is %q", got)
	}
	if b, _ := os.ReadFile(file); string(b) != "edited by hand" {
		t.Errorf("the comparison has changed the file: %q", b)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	compare() // what is unknown is reported, and fails nothing
	if got := drift(); len(got) != 1 || !strings.Contains(got[0], "unknown: "+node+" cannot be read.") {
		t.Errorf("the drift is %q", got)
	}
	if _, err := e.app.Operation.Updates.Update(e.ctx, e.admin, v.ID, cluster.Update{Kind: app.OperationCompare, Services: []string{"front"}}); app.AsError(err).Reason != "not_comparable" {
		t.Errorf("of scripts: %v", err)
	}
	if _, err := e.app.Operation.Updates.Update(e.ctx, e.admin, v.ID, cluster.Update{Kind: app.OperationRestart, Services: []string{"front"}}); err != nil {
		t.Fatal(err)
	}
	e.want(e.await(v.ID), app.ClusterActive)
	if got := drift(); len(got) != 0 {
		t.Errorf("after another operation what was found is kept: %q", got)
	}
}
