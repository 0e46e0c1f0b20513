package node

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"muster/app/family"
	"muster/app/humanize"
)

// Bounds of what an action may have found out; see family.ServiceCall.Tell.
const (
	maxFacts  = 50
	maxValue  = 60 << 10  // bytes
	maxTotal  = 200 << 10 // bytes of all values
	factsRead = 512 << 10 // bytes of the file
	maxLine   = 64 << 10  // bytes of a line, of which a shell returns no more in one piece
)

// factsFile is where an action leaves what it found out, below the state root. It is named by what all attempts of a step have in common, so that
// a later attempt finds what an earlier one has written.
func factsFile(call family.ServiceCall) (dir, file string) {
	step := sha256.Sum256([]byte(call.Step))
	return ".facts/" + call.Service, strconv.FormatInt(call.Operation, 10) + "." + hex.EncodeToString(step[:8])
}

// Outputs returns the commands that make an empty file for what an action finds out, which this user alone can read, and that name it in the variable
// MUSTER_OUTPUTS, which is exported. What earlier steps of the service have left is removed.
func Outputs(call family.ServiceCall) string {
	dir, file := factsFile(call)
	return `muster_facts=$muster_root/` + humanize.ShellQuote(dir) + `
[ -d "$muster_facts" ] || (umask 077; mkdir -p "$muster_facts") || exit 1
for muster_file in "$muster_facts"/*; do [ ! -f "$muster_file" ] || rm -f "$muster_file"; done
MUSTER_OUTPUTS=$muster_facts/` + humanize.ShellQuote(file) + `
export MUSTER_OUTPUTS
(umask 077; : >"$MUSTER_OUTPUTS") || exit 1
`
}

// Tell tells what the action wrote to the file that Outputs has made, in this attempt or in an earlier one; nothing where no one listens, or nothing was
// written. Invalid facts are reported to out. The file stays until the service's next step, since a worker may die before it is heard.
func Tell(ctx context.Context, sh family.Shell, call family.ServiceCall, out family.Output) error {
	if call.Tell == nil {
		return nil
	}
	dir, file := factsFile(call)
	line := Prologue + `muster_file=$muster_root/` + humanize.ShellQuote(dir+"/"+file) + `
[ ! -f "$muster_file" ] || head -c ` + strconv.Itoa(factsRead) + ` "$muster_file"
`
	text, err := Look(ctx, sh, line, "")
	if err != nil {
		return fmt.Errorf("facts: %w", err)
	}
	facts, wrong := Facts(text)
	for _, w := range wrong {
		Say(out, w)
	}
	if len(facts) > 0 {
		call.Tell(facts)
	}
	return nil
}

var factName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// Facts reads what was written to the file of outputs: lines name=value, or a JSON object. In JSON, what is no text comes as it would be written there,
// and null is left out. Of several values of a name the last one counts. What cannot be a fact is left out, and wrong says why, a sentence each, at
// most ten.
func Facts(text string) (facts map[string]string, wrong []string) {
	facts = map[string]string{}
	total := 0
	no := func(format string, args ...any) {
		if len(wrong) < 10 {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	add := func(name, value string) {
		value = strings.ToValidUTF8(strings.ReplaceAll(value, "\x00", ""), "\uFFFD")
		switch _, again := facts[name]; {
		case !factName.MatchString(name):
			no("Ignored fact %.80q: a name must start with a letter and have at most 64 of a-z, 0-9 and _.", name)
		case len(value) > maxValue:
			no("Ignored fact %s: it exceeds %d bytes.", name, maxValue)
		case len(facts) >= maxFacts && !again:
			no("More than %d facts; ignored %s.", maxFacts, name)
		case total+len(value)-len(facts[name]) > maxTotal:
			no("Ignored fact %s: all together exceed %d bytes.", name, maxTotal)
		default:
			total += len(value) - len(facts[name])
			facts[name] = value
		}
	}
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		if err := jsonFacts(text, add); err != nil {
			no("The facts start like a JSON object but aren't valid JSON: %v.", err)
		}
		return facts, wrong
	}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok || len(line) >= maxLine {
			no("Ignored a line of facts that isn't name=value.")
			continue
		}
		add(strings.TrimSpace(name), value)
	}
	return facts, wrong
}

func jsonFacts(text string, add func(name, value string)) error {
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) >= maxLine {
			return fmt.Errorf("a line exceeds %d bytes", maxLine)
		}
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var s string
		raw := bytes.TrimSpace(all[name])
		switch {
		case bytes.Equal(raw, []byte("null")):
		case json.Unmarshal(raw, &s) == nil:
			add(name, s)
		default:
			var flat bytes.Buffer
			if err := json.Compact(&flat, raw); err != nil {
				return err
			}
			add(name, flat.String())
		}
	}
	return nil
}
