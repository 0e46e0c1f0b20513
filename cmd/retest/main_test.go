package main

import (
	"slices"
	"strings"
	"testing"
)

// story plays what go test would say: the first run, then one for each test that is run again.
type story struct {
	t    *testing.T
	runs [][]event
	args [][]string
}

func (s *story) test(args []string, each func(event)) error {
	s.args = append(s.args, args)
	if len(s.runs) == 0 {
		s.t.Fatalf("a run too many: %q", args)
	}
	for _, e := range s.runs[0] {
		each(e)
	}
	s.runs = s.runs[1:]
	return nil
}

func ran(test, how string) []event {
	return []event{{Action: "run", Package: "p", Test: test}, {Action: "run", Package: "p", Test: test + "/sub"},
		{Action: "output", Package: "p", Test: test + "/sub", Output: test + " said this\n"},
		{Action: how, Package: "p", Test: test + "/sub"}, {Action: how, Package: "p", Test: test}}
}

func ended(how string, tests ...[]event) []event {
	return append(slices.Concat(tests...), event{Action: "output", Package: "p", Output: how + "\n"}, event{Action: how, Package: "p"})
}

func TestRun(t *testing.T) {
	fine, bad := ran("TestA", "pass"), ran("TestB", "fail")
	twice := slices.Concat(ran("TestB", "pass"), ran("TestB", "pass"))
	for _, c := range []struct {
		name string
		runs [][]event
		code int
		says []string
	}{
		{"all pass", [][]event{ended("pass", fine)}, 0, []string{"1 passed, 0 failed, 0 skipped"}},
		{"passes twice alone", [][]event{ended("fail", fine, bad), ended("pass", twice)}, 0,
			[]string{"FLAKY p TestB", "TestB said this", "1 flaky", "2 passed, 0 failed"}},
		{"passes once alone, then fails", [][]event{ended("fail", bad), ended("fail", ran("TestB", "pass"), bad)}, 1, []string{"failed again", "0 passed, 1 failed"}},
		{"is not found alone", [][]event{ended("fail", bad), ended("pass")}, 1, []string{"0 passed, 1 failed"}},
		{"too many", [][]event{ended("fail", bad, ran("TestC", "fail"), ran("TestD", "fail"), ran("TestE", "fail"))}, 1, []string{"too many", "0 passed, 4 failed"}},
		{"crashes", [][]event{ended("fail", fine, bad, []event{{Action: "run", Package: "p", Test: "TestZ"}})}, 1, []string{"TestZ did not end", "2 failed"}},
		{"does not build", [][]event{{{Action: "build-output", ImportPath: "p", Output: "undefined: x\n"}, {Action: "fail", Package: "p", FailedBuild: "p"}}}, 1,
			[]string{"undefined: x", "0 passed, 1 failed"}},
		{"TestMain fails", [][]event{ended("fail", fine)}, 1, []string{"1 passed, 1 failed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &story{t: t, runs: c.runs}
			var out strings.Builder
			if code := run([]string{"-short", "-run", "X", "./..."}, &out, s.test); code != c.code || len(s.runs) > 0 {
				t.Errorf("exit code %d, want %d; %d runs are left", code, c.code, len(s.runs))
			}
			for _, text := range c.says {
				if !strings.Contains(out.String(), text) {
					t.Errorf("%q is not in:\n%s", text, out.String())
				}
			}
			if len(s.args) > 1 && !slices.Equal(s.args[1], []string{"-short", "-run", "^TestB$", "-count", "2", "p"}) {
				t.Errorf("run again with %q", s.args[1])
			}
		})
	}
}

func TestFlagsOf(t *testing.T) {
	got := flagsOf([]string{"-tags", "real", "-vet=off", "-run", "A|B", "-count=1", "-parallel", "6", "./a", "./b"})
	if want := []string{"-tags", "real", "-vet=off", "-parallel", "6"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
