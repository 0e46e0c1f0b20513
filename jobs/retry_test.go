package jobs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/jobs/budget"
	"muster/jobs/internal/loop"
	"muster/jobs/remote"
)

func TestRetry(t *testing.T) {
	for _, c := range []struct {
		code  app.Code
		after time.Duration
		tries int
		again bool
		least time.Duration
	}{
		{app.ETransient, 0, 1, true, time.Second},
		{app.ETransient, 0, 4, true, 8 * time.Second},
		{app.ETransient, 0, 5, false, 0},
		{app.ERateLimit, 90 * time.Second, 1, true, 90 * time.Second},
		{app.ECapacity, 0, 2, true, 20 * time.Second},
		{app.EScript, 0, 2, true, 4 * time.Second},
		{app.EScript, 0, 3, false, 0},
		{app.ECredentials, 0, 1, false, 0},
		{app.EHostKey, 0, 1, false, 0},
		{app.EQuota, 0, 1, false, 0},
		{app.EInvalid, 0, 1, false, 0},
		{app.ECancelled, 0, 1, false, 0},
		{"a code of tomorrow", 0, 1, false, 0},
	} {
		got := retry(&app.Error{Code: c.code, RetryAfter: c.after}, c.tries)
		if got.Again != c.again || got.After < c.least || got.After > c.least+c.least/4+c.after {
			t.Errorf("%s after %d tries: %+v, want again=%v after at least %s", c.code, c.tries, got, c.again, c.least)
		}
		if got.Elsewhere != (c.code == app.ECapacity) {
			t.Errorf("%s: elsewhere is %v", c.code, got.Elsewhere)
		}
	}
}

func TestReasonTakesPrecedenceOverCode(t *testing.T) {
	limit := &app.Error{Code: app.ETimeout, Reason: reasonTimeLimit}
	if !retry(limit, 2).Again || retry(limit, 3).Again || !retry(&app.Error{Code: app.ETimeout}, 4).Again {
		t.Error("an action over its own time limit is tried three times, other time-outs five")
	}
	other := &app.Error{Code: app.ETimeout, Reason: "no_such_reason"}
	if !retry(other, 4).Again {
		t.Error("a reason without a rule is not judged by its code")
	}
}

func TestWaitsAreNoAttempts(t *testing.T) {
	empty := &app.Error{Code: app.ERateLimit, Reason: budget.Reason, RetryAfter: 14 * time.Second}
	for _, tries := range []int{0, 1, 1000} {
		if got := retry(empty, tries); !got.Again || !got.Free || got.After != 14*time.Second {
			t.Errorf("after %d tries an empty budget gets %+v, want a free wait of 14 s", tries, got)
		}
	}
	if got := retry(&app.Error{Code: app.ETransient, Reason: reasonStopped}, 99); !got.Again || !got.Free || got.After != 0 {
		t.Errorf("a worker that stops gets %+v for its step, want at once and free", got)
	}
	// What an earlier attempt began still runs on the node: however often it is met, it costs no try.
	occupied := &app.Error{Code: app.ETransient, Reason: remote.ReasonOccupied}
	for _, tries := range []int{1, 5, 1000} {
		if got := retry(occupied, tries); !got.Again || !got.Free || got.After < time.Second || got.After > 2*time.Second {
			t.Errorf("after %d tries a node that is occupied gets %+v, want a free wait of a second", tries, got)
		}
	}
	if e := (&app.Error{Code: app.ETransient, Reason: remote.ReasonOccupied}); retryOf(e, &execution.Assignment{Tries: 1, Age: patience}).Again || e.Hint == "" {
		t.Errorf("a node that stays occupied is waited for without end, or no advice is shown: %q", e.Hint)
	}
	if retry(&app.Error{Code: app.ERateLimit}, 1).Free {
		t.Error("a refusal of the other side is free, though it was asked")
	}
}

func TestAgainDoesNotAcceptPartialForEver(t *testing.T) {
	for _, p := range policy {
		as := &execution.Assignment{Tries: 1, Age: patience}
		e := &app.Error{Code: p.code, Reason: p.reason, Message: "It broke."}
		if retryOf(e, as).Again {
			t.Errorf("%s %s is tried again after %s", p.code, p.reason, patience)
		}
		if v := p.verdict; (v == again || v == elsewhere) && !strings.Contains(e.Hint, "Resume") {
			t.Errorf("%s %s: no advice after so long: %q", p.code, p.reason, e.Hint)
		}
	}
}

func TestDecisionsAreExplained(t *testing.T) {
	for _, p := range policy {
		if p.verdict == ask && p.advice == "" {
			t.Errorf("%s %s asks a person, and does not say what", p.code, p.reason)
		}
	}
	e := &app.Error{Code: app.EQuota, Message: "The account may have 10 machines."}
	if retryOf(e, &execution.Assignment{Tries: 1}); !strings.Contains(e.Hint, "Raise the account's limit") {
		t.Errorf("hint: %q", e.Hint)
	}
	e = &app.Error{Code: app.EQuota, Hint: "Ask in room 12."}
	if retryOf(e, &execution.Assignment{Tries: 1}); e.Hint != "Ask in room 12." {
		t.Errorf("a hint was written over: %q", e.Hint)
	}
	e = &app.Error{Code: app.EConflict, Reason: "image_no_room", Message: "The disk is full."}
	if r := retryOf(e, &execution.Assignment{Tries: 1}); r.Again || !strings.Contains(e.Hint, "Free up space") {
		t.Errorf("an engine's full disk: %+v, hint %q", r, e.Hint)
	}
	e = &app.Error{Code: app.EScript, Message: "exit code 1"}
	if retryOf(e, &execution.Assignment{Tries: 1}); e.Hint != "" {
		t.Errorf("something is advised although it is tried again: %q", e.Hint)
	}
}

// TestEveryCodeIsListed reads the codes where they are written, so that a new one is not forgotten here.
func TestEveryCodeIsListed(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "../app/error.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]int{}
	for _, p := range policy {
		listed[string(p.code)+"/"+p.reason]++
	}
	codes := 0
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := v.Type.(*ast.Ident); !ok || id.Name != "Code" {
			return true
		}
		for _, x := range v.Values {
			code, err := strconv.Unquote(x.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			if codes++; listed[code+"/"] != 1 {
				t.Errorf("code %s is in the policy %d times, want once", code, listed[code+"/"])
			}
		}
		return true
	})
	if codes < 15 {
		t.Errorf("only %d codes were found in app/error.go", codes)
	}
	for key, n := range listed {
		if n > 1 {
			t.Errorf("%s has %d rules", key, n)
		}
	}
}

func TestBackOffIsBounded(t *testing.T) {
	if d := retry(&app.Error{Code: app.ERateLimit, RetryAfter: 1000 * time.Hour}, 1).After; d != loop.LongestAsked {
		t.Errorf("a cloud that asks for six weeks makes us wait %s", d)
	}
	for tries := 1; tries < 100; tries++ {
		if d := loop.BackOff(time.Second, tries); d < time.Second || d > loop.LongestWait+loop.LongestWait/4+1 {
			t.Errorf("try %d waits %s", tries, d)
		}
	}
}

// retry applies the policy. tries counts the attempts since the operation was last resumed, the failed one included.
func retry(e *app.Error, tries int) app.Retry { return ruleFor(e).decide(e, tries, 0) }
