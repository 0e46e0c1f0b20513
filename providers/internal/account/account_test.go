package account

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"muster/app"
)

func TestSettings(t *testing.T) {
	s := Settings{"text": " x ", "list": "a, b  c,", "on": true, "n": 7, "odd": "maybe", "nothing": nil}
	if s.Text("text") != "x" || s.Text("nothing") != "" || s.Or("none", "y") != "y" || strings.Join(s.List("list"), "|") != "a|b|c" {
		t.Errorf("%q %q %q %q", s.Text("text"), s.Text("nothing"), s.Or("none", "y"), s.List("list"))
	}
	if b, err := s.Bool("on", false); !b || err != nil {
		t.Error(b, err)
	}
	if b, err := s.Bool("none", true); !b || err != nil {
		t.Error(b, err)
	}
	if _, err := s.Bool("odd", false); app.CodeOf(err) != app.EInvalid || app.AsError(err).Field != "settings.odd" {
		t.Error(err)
	}
	if n, err := s.Int("n", 1, 0, 10); n != 7 || err != nil {
		t.Error(n, err)
	}
	for _, most := range []int{6, 5} {
		if _, err := s.Int("n", 1, 0, most); app.CodeOf(err) != app.EInvalid {
			t.Error(err)
		}
	}
	with := s.With(map[string]string{"text": "z", "list": " "}, nil)
	if with.Text("text") != "z" || len(with.List("list")) != 3 || s.Text("text") != "x" {
		t.Errorf("%v, %v", with, s)
	}
}

// A real Nova carried a create out 5.5 s after its caller had given up, with lists that don't lag: one look isn't enough.
func TestLostAnswerThatIsCarriedOutLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const late = 5 * time.Second
		var a Asked
		a.Keep("n1", "", app.Errorf(app.ETimeout, "no answer"), late)
		begin, machine := time.Now(), "m1"
		find := func() (*string, error) {
			if time.Since(begin) < 3*late {
				return nil, nil
			}
			return &machine, nil
		}
		one, err := Standing(t.Context(), &a, "n1", late, find, nil)
		if err != nil || one != &machine {
			t.Errorf("%v, %v", one, err)
		}
		if one, err := Standing(t.Context(), &a, "n2", late, func() (*string, error) { return nil, nil }, nil); one != nil || err != nil {
			t.Errorf("an intent that nothing was asked for: %v, %v", one, err)
		}
	})
}

func TestNames(t *testing.T) {
	for from, want := range map[string]string{"n1.c1.example.org": "n1", "Ärger_3.x": "rger-3", "": "node", ".x": "node", strings.Repeat("a", 80): strings.Repeat("a", 63), "-.-": "node"} {
		if got := Name(from); got != want {
			t.Errorf("%q becomes %q, want %q", from, got, want)
		}
	}
}

func TestStatus(t *testing.T) {
	for status, code := range map[int]app.Code{400: app.EInvalid, 401: app.ECredentials, 403: app.ECredentials, 404: app.ENotFound, 409: app.EConflict,
		422: app.EInvalid, 429: app.ERateLimit, 500: app.ETransient, 503: app.ETransient, 504: app.ETimeout, 302: app.EInternal} {
		if e := Status(status, nil, ""); e.Code != code || e.Message == "" {
			t.Errorf("%d is %+v, want %s", status, e, code)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for name, c := range map[string]struct {
		header http.Header
		want   time.Duration
	}{
		"seconds":  {http.Header{"Retry-After": {"7"}}, 7 * time.Second},
		"a date":   {http.Header{"Retry-After": {now.Add(9 * time.Second).UTC().Format(http.TimeFormat)}}, 9 * time.Second},
		"the past": {http.Header{"Retry-After": {now.Add(-9 * time.Second).UTC().Format(http.TimeFormat)}}, 0},
		"a time":   {http.Header{"Ratelimit-Reset": {"1800000030"}}, 30 * time.Second},
		"too long": {http.Header{"Retry-After": {"99999999"}}, time.Hour},
		"nonsense": {http.Header{"Retry-After": {"soon"}}, 0},
		"nothing":  {nil, 0},
	} {
		if got := RetryAfter(c.header, now); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
