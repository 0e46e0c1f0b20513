package generic_test

import (
	"strings"
	"testing"

	"muster/app"
	"muster/app/build"
	"muster/portal/buildsystems"
	"muster/portal/buildsystems/buildsystemtest"
	"muster/portal/buildsystems/generic"
)

func Test(t *testing.T) {
	buildsystemtest.Run(t, buildsystemtest.Member{Systems: buildsystems.Family{}, Name: generic.Name, Secret: buildsystemtest.StandardSecret, Schemes: []buildsystemtest.Scheme{buildsystemtest.Standard},
		Unknown: `{"event":"lunch"}`})
}

func TestErrorsAreExplained(t *testing.T) {
	for body, field := range map[string]string{
		`{"event":"build","bild":"x"}`:                                   "bild",
		`{"event":"build","phase":"running"}`:                            "build",
		`{"event":"build","phase":"done","build":"x"}`:                   "phase",
		`{"phase":"running","build":"x"}`:                                "event",
		`{"event":"build","url":"http://example.com"}`:                   "url",
		`{"event":"build","url":"https://a:b@example.com"}`:              "url",
		`{"event":"build","data":[]}`:                                    "data",
		`{"event":"build","branch":"a\u0000b"}`:                          "branch",
		`{"event":"build","pull_request":-1}`:                            "pull_request",
		`{"event":"build","pull_request":1.5}`:                           "pull_request",
		`{"event":"build","labels":["a",1]}`:                             "labels[1]",
		`{"event":"build","branch":"` + strings.Repeat("x", 1001) + `"}`: "branch",
	} {
		_, err := buildsystems.Family{}.Read(build.Delivery{System: generic.Name, Body: []byte(body)})
		a := app.AsError(err)
		if err == nil || a.Code != app.EInvalid || a.Field != field {
			t.Errorf("%.60s: %v", body, err)
		}
		if field == "bild" && !strings.Contains(a.Hint, `"build"`) {
			t.Errorf("no word of what was meant: %q", a.Hint)
		}
	}
}
