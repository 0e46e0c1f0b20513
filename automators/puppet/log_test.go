package puppet

import (
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
)

func TestResourceOf(t *testing.T) {
	for source, want := range map[string]string{
		"/Stage[main]/Main/File[/etc/motd]/content":    "File[/etc/motd] content",
		"/Stage[main]/Web/Web::Site[a/b]/Exec[x]":      "Exec[x] ",
		"/Stage[main]/Main/Exec[echo [a] / b]/returns": "Exec[echo [a] / b] returns",
		"/Stage[main]": "Stage[main] ",
		"":             " ",
		"/Stage[main]/Main/Package[nginx]/ensure": "Package[nginx] ensure",
	} {
		r, p := resourceOf(source)
		if got := r + " " + p; got != want {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
}

// What a real Puppet 7.23 logged.
const logged = `[
{"level":"err","message":"Permission denied @ rb_sysopen - /proc/1/environ","source":"Facter","tags":["err"]}
,
{"level":"notice","message":"Compiled catalog for vm in environment production in 0.10 seconds","source":"Puppet","tags":["notice"]}
,
{"level":"notice","message":"current_value 'absent', should be 'hi n1' (noop)","source":"/Stage[main]/Main/Notify[hi n1]/message"}
,
{"level":"notice","message":"current_value 'absent', should be 'file' (noop)","source":"/Stage[main]/Main/File[/tmp/made]/ensure"}
,
{"level":"notice","message":"current_value 'absent', should be 'file' (noop)","source":"/Stage[main]/Main/File[/state/outputs]/ensure"}
,
{"level":"notice","message":"current_value '{sha256}91dd', should be '{sha256}5feb' (noop)","source":"/Stage[main]/Main/File[/etc/motd]/content"}
,
{"level":"notice","message":"current_value '0644', should be '0640' (noop)","source":"/Stage[main]/Main/File[/etc/motd]/mode"}
,
{"level":"notice","message":"current_value 'stopped', should be 'running' (noop)","source":"/Stage[main]/Main/Service[web]/ensure"}
,
{"level":"notice","message":"Would have triggered 'refresh' from 1 event","source":"/Stage[main]/Main/Service[web]"}
,
{"level":"notice","message":"Would have triggered 'refresh' from 1 event","source":"/Stage[main]/Main/Exec[/bin/true]"}
,
{"level":"notice","message":"Would have triggered 'refresh' from 1 event","source":"/Stage[main]/Web/Web::Site[x]"}
,
{"level":"notice","message":"Would have triggered 'refresh' from 3 events","source":"Class[Main]"}
,
{"level":"notice","message":"Applied catalog in 0.04 seconds","source":"Puppet"}
`

func TestChangesOf(t *testing.T) {
	got := changesOf(strings.Split(logged, "\n"), "File[/state/outputs]")
	want := []string{"File[/tmp/made]: ensure from absent to file", "File[/etc/motd]: content", "File[/etc/motd]: mode from 0644 to 0640",
		"Service[web]: ensure from stopped to running", "Exec[/bin/true]: refresh"}
	if !slices.Equal(got.Texts, want) || got.More != 0 {
		t.Errorf("got %q and %d more", got.Texts, got.More)
	}
	if got := changesOf([]string{`{"level":"notice","message":"cut`, "off"}, ""); got.More != 1 {
		t.Errorf("a line that cannot be read is no change: %+v", got)
	}
}

func TestFailure(t *testing.T) {
	call := family.ServiceCall{Service: "web", Action: app.ActionInstall}
	for name, tc := range map[string]struct {
		lines []string
		exit  int
		want  string
	}{
		"a resource": {[]string{"Error: Facter: no", "Error: 'sh' returned 3 instead of one of [0]", "Error: /Stage[main]/Main/Exec[a: b]/returns: change from 'notrun' to ['0'] failed: 'sh' returned 3", "Warning: /Stage[main]/Main/File[/x]: Skipping because of failed dependencies"},
			6, "web install failed with exit code 6 (a resource failed; others changed): Exec[a: b]: change from 'notrun' to ['0'] failed: 'sh' returned 3"},
		"no catalog": {[]string{"Error: Evaluation Error: Unknown function", "Warning: later"}, 1, "web install failed with exit code 1 (the catalog failed to compile or apply): Evaluation Error: Unknown function"},
		"no Puppet":  {[]string{"puppet is not installed on this node"}, 127, "web install failed with exit code 127 (Puppet isn't installed): puppet is not installed on this node"},
		"silence":    {nil, 9, "web install failed with exit code 9."},
	} {
		var f failure
		for _, l := range tc.lines {
			f.hear(l)
		}
		if got := f.err(call, tc.exit); got.Message != tc.want || got.Code != app.EScript {
			t.Errorf("%s: %q, want %q", name, got.Message, tc.want)
		}
	}
}

func FuzzChanges(f *testing.F) {
	f.Add(logged)
	f.Add(`{"level":"notice","message":"(noop)","source":"/Stage[]][["}`)
	f.Fuzz(func(t *testing.T, s string) {
		got := changesOf(strings.Split(s, "\n"), "")
		if len(got.Texts) > family.MostChanges {
			t.Fatal(len(got.Texts))
		}
		var fail failure
		for l := range strings.SplitSeq(s, "\n") {
			fail.hear("Error: " + l)
		}
		if fail.err(family.ServiceCall{}, 4).Message == "" {
			t.Fatal("no message")
		}
	})
}
