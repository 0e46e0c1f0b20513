package executable

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"muster/app/family"
)

// What docs/providers/executable.md says that Muster and a program write is the protocol: each line has the fields of its verb, and no others.
func TestExchangesInDocs(t *testing.T) {
	const page = "docs/providers/executable.md"
	b, err := os.ReadFile("../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	strict := func(at string, text []byte, into any) {
		t.Helper()
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(into); err != nil {
			t.Errorf("%s: %s: %v", page, at, err)
		}
	}
	params := map[string]func() any{
		verbDescribe: func() any { return &describeParams{} }, verbOpen: func() any { return &openParams{} }, verbCreate: func() any { return &createSpec{} },
		verbMachine: func() any { return &idParams{} }, verbList: func() any { return &tagParams{} }, verbDelete: func() any { return &idParams{} },
		verbSleep: func() any { return &idParams{} }, verbWake: func() any { return &idParams{} }, verbAdopt: func() any { return &adoptParams{} },
		verbCheck: func() any { return &checkParams{} }, verbOffers: func() any { return &nothing{} }, verbShared: func() any { return &tagParams{} },
		verbDeleteShared: func() any { return &idParams{} }, verbCancel: func() any { return &cancelParams{} },
	}
	results := map[string]func() any{
		verbDescribe: func() any { return &descriptionLine{} }, verbCreate: func() any { return &machineLine{} }, verbMachine: func() any { return &machineLine{} },
		verbList: func() any { return &machinesLine{} }, verbCheck: func() any { return &findingsLine{} }, verbOffers: func() any { return &family.Offers{} },
		verbShared: func() any { return &thingsLine{} },
	}
	var verbs []string
	asked := ""
	for _, block := range strings.Split(string(b), "```exchange\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for _, line := range strings.FieldsFunc(strings.NewReplacer("\n→", "\x00→", "\n←", "\x00←").Replace(block), func(r rune) bool { return r == 0 }) {
			if text, sent := strings.CutPrefix(line, "→"); sent {
				var r struct {
					request
					Params json.RawMessage `json:"params"`
				}
				strict(line, []byte(text), &r)
				asked = r.Verb
				if verbs = append(verbs, asked); params[asked] == nil {
					t.Errorf("%s: %s: there is no such verb", page, line)
					continue
				}
				strict(line, r.Params, params[asked]())
				continue
			}
			var a answer
			strict(line, []byte(strings.TrimPrefix(line, "←")), &a)
			result := any(&nothing{})
			if results[asked] != nil {
				result = results[asked]()
			}
			if a.Error == nil {
				strict(line, a.Result, result)
			}
		}
	}
	for verb := range params {
		if !slices.Contains(verbs, verb) {
			t.Errorf("%s has no example of %s", page, verb)
		}
	}
}
