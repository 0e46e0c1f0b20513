package terminal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/terminal"
)

func (s *site) recordAll() {
	s.t.Helper()
	if _, err := s.Services.Terminal.SetTerminalSettings(s.t.Context(), s.Actor("root", app.RoleAdmin), terminal.Settings{Record: true, KeepDays: 2}); err != nil {
		s.t.Fatal(err)
	}
}

// cast is a recording.
func (s *site) cast(who app.Actor, id string) (head map[string]any, events [][3]any, err error) {
	s.t.Helper()
	var out bytes.Buffer
	if err := s.Services.Terminal.Recording(s.t.Context(), who, id, &out); err != nil {
		return nil, nil, err
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if err := json.Unmarshal([]byte(lines[0]), &head); err != nil {
		s.t.Fatal(err)
	}
	for _, l := range lines[1:] {
		var e [3]any
		if err := json.Unmarshal([]byte(l), &e); err != nil {
			s.t.Fatalf("%q: %v", l, err)
		}
		events = append(events, e)
	}
	return head, events, nil
}

func TestARecordingHasWhatWasShown(t *testing.T) {
	s := newSite(t, true)
	s.recordAll()
	began := s.Clock.Now()
	c := s.open(terminal.Open{Size: family.TerminalSize{Columns: 90, Rows: 20}})
	id, sh := c.Terminal().ID, s.node.last()
	for _, piece := range []string{"gr\xc3", "\xbcn \xf0\x9f", "\x98", "\x80 \xff."} { // characters that are split, and what is none
		go sh.show(piece)
		s.reads(c, piece)
	}
	_ = c.Write([]byte("a password\n"))
	s.Clock.Move(90 * time.Second)
	_ = c.Resize(family.TerminalSize{Columns: 100, Rows: 40})
	s.Services.Terminal.Close() // the server stops; another continues the recording
	s.over(c)
	c = s.open(terminal.Open{ID: id, Size: family.TerminalSize{Columns: 70, Rows: 10}})
	go s.node.last().show("again")
	s.reads(c, "again")
	c.Quit()
	x := s.row(id, false)
	head, events, err := s.cast(s.ada, id)
	if err != nil {
		t.Fatal(err)
	}
	if head["title"] != "ada on n1 of web-1" || head["version"] != 2.0 || head["width"] != 90.0 || head["height"] != 20.0 || head["timestamp"] != float64(began.Unix()) {
		t.Errorf("%v", head)
	}
	text, sizes, last := "", "", 0.0
	for _, e := range events {
		if at := e[0].(float64); at < last {
			t.Errorf("%v is before %v", at, last)
		} else {
			last = at
		}
		if e[1] == "o" {
			text += e[2].(string)
		} else {
			sizes += e[2].(string) + " "
		}
	}
	if text != "grün 😀 \ufffd.again" || sizes != "90x20 100x40 70x10 " || last != 90 || strings.Contains(text, "password") {
		t.Errorf("%q, %q, %v s", text, sizes, last)
	}
	if !x.Recorded || x.Seconds != 90 || x.Bytes == 0 {
		t.Errorf("%+v", x)
	}
	// Who plays it.
	for name, c := range map[string]struct {
		who  app.Actor
		code app.Code
	}{
		"an admin":       {s.Actor("root", app.RoleAdmin), ""},
		"another user":   {s.Actor("bob", app.RoleUser), app.ENotFound},
		"another tenant": {app.Actor{Tenant: "acme", User: "ada", Role: app.RoleAdmin}, app.ENotFound},
	} {
		if _, _, err := s.cast(c.who, id); app.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	entries, err := s.Store.Audit(t.Context(), app.AuditFilter{Act: "terminal.play", Limit: 10})
	if err != nil || len(entries) != 2 || entries[0].Who != "root" {
		t.Errorf("%+v, %v", entries, err)
	}
	// It's removed with the terminal, as late as the tenant wants.
	for _, c := range []struct {
		pass time.Duration
		left int
	}{{48*time.Hour - time.Minute, 1}, {2 * time.Minute, 0}} {
		s.Clock.Move(c.pass)
		if err := s.Services.Terminal.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := s.Number(`SELECT count(*) FROM terminals`); n != c.left || n == 0 && s.Number(`SELECT count(*) FROM terminal_chunks`) != 0 {
			t.Errorf("%d terminals are left, want %d", n, c.left)
		}
	}
}

// full is a store that keeps no recordings.
type full struct{ terminal.RecordingStore }

func (full) AddChunk(context.Context, terminal.Chunk) error { return errors.New("the disk is full") }

func TestNothingIsShownUnrecorded(t *testing.T) {
	s := newSite(t, true)
	s.recordAll()
	c := s.open(terminal.Open{})
	s.Services.Terminal.FillRecording(c.Terminal().ID, terminal.MaxRecording)
	go s.node.last().show("one byte more")
	if why := s.over(c); why.Reason != "recording" || !strings.Contains(why.Message, "64 MB") {
		t.Error(why)
	}
	s.row(c.Terminal().ID, false)
	s.until("the shell is ended", func() bool { return !s.node.keeps(c.Terminal().ID) })
	s.Services.Terminal.Recordings = full{s.Services.Terminal.Recordings}
	c = s.open(terminal.Open{})
	sh := s.node.last()
	go sh.show(strings.Repeat("x", 128<<10))
	if why := s.over(c); why.Reason != "recording" || !strings.Contains(why.Message, "couldn't be saved") {
		t.Error(why)
	}
	s.row(c.Terminal().ID, false)
}

func TestRecordingsAreAnnounced(t *testing.T) {
	s := newSite(t, false)
	open := terminal.Open{Cluster: s.cluster, Node: "n1"}
	if _, err := s.Services.Terminal.OpenTerminal(t.Context(), s.ada, open); err != nil {
		t.Error(err)
	}
	s.recordAll()
	if _, err := s.Services.Terminal.OpenTerminal(t.Context(), s.ada, open); app.AsError(err).Reason != "announce" || len(s.node.shells) != 1 {
		t.Errorf("%d shells, %v", len(s.node.shells), err)
	}
	open.Announced = true
	if c, err := s.Services.Terminal.OpenTerminal(t.Context(), s.ada, open); err != nil || !c.Terminal().Recorded {
		t.Error(err)
	}
}

func TestSettingsOfTerminals(t *testing.T) {
	s := newSite(t, false)
	root := s.Actor("root", app.RoleAdmin)
	for days, bad := range map[int]bool{-1: true, 3651: true, 1: false, 3650: false, 0: false} {
		set, err := s.Services.Terminal.SetTerminalSettings(t.Context(), root, terminal.Settings{KeepDays: days, StepUp: true})
		if bad != (app.AsError(err).Field == "keep_days") || days == 0 && set.KeepDays != 90 {
			t.Errorf("%d: %+v, %v", days, set, err)
		}
	}
	stale := s.ada
	stale.Session, stale.SeenAt, stale.ProvenAt = "1", s.Clock.Now(), s.Clock.Now().Add(-time.Hour)
	if _, err := s.try(stale, terminal.Open{}); app.AsError(err).Reason != app.StepUpReason {
		t.Errorf("without a proof: %v", err)
	}
	if _, err := s.try(s.ada, terminal.Open{}); err != nil {
		t.Error(err)
	}
}
