package executable

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// What docs/automators/executable.md says that Muster and a program write is the protocol: each line has the fields of its verb, and no others.
func TestExchangesInDocs(t *testing.T) {
	const page = "docs/automators/executable.md"
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
	_, block, found := strings.Cut(string(b), "```exchange\n")
	block, _, closed := strings.Cut(block, "```")
	if !found || !closed {
		t.Fatalf("%s has no exchange", page)
	}
	lines := strings.Split(strings.TrimSpace(block), "\n")
	for i, line := range lines {
		text, sent := strings.CutPrefix(line, "→")
		text = strings.ReplaceAll(strings.TrimPrefix(text, "←"), ",…}", "}") // what is left out
		var m message
		strict(line, []byte(text), &m)
		if _, err := readMessage([]byte(text)); err != nil {
			t.Errorf("%s: %s: %v", page, line, err)
		}
		switch {
		case sent && m.Verb != "":
			strict(line, m.Params, &callParams{})
		case m.Verb == askRun:
			strict(line, m.Params, &runAsk{})
		case sent:
			strict(line, m.Result, &ranResult{})
		case i == len(lines)-1:
			strict(line, m.Result, &doneResult{})
		default:
			t.Errorf("%s: %s: what is it?", page, line)
		}
	}
}
