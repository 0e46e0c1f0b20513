package executable

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"muster/app/family"
	"muster/app/program"
)

// secrets are the values that must not stand in what a program writes for people or for the log.
type secrets struct{ replacer *strings.Replacer }

// shortestSecret keeps a secret such as "a" from taking whole words apart; it could be guessed anyway.
const shortestSecret = 4

func secretsOf(fields []family.Field, settings map[string]any) *secrets {
	var values []string
	for _, f := range fields {
		if v := settings[f.Name]; f.Secret && v != nil {
			text := fmt.Sprint(v)
			values = append(values, text)
			if b, err := json.Marshal(text); err == nil {
				values = append(values, strings.Trim(string(b), `"`)) // as it is in a line that a program copies out
			}
			for line := range strings.Lines(text) { // of a key, which a log shows line by line
				values = append(values, strings.TrimSpace(line))
			}
		}
	}
	sort.Slice(values, func(i, j int) bool { return len(values[i]) > len(values[j]) })
	var pairs []string
	for _, v := range values {
		if len(v) >= shortestSecret {
			pairs = append(pairs, v, "…")
		}
	}
	return &secrets{strings.NewReplacer(pairs...)}
}

// tidy takes secrets and control characters out of a text, and cuts it. A nil s knows no secrets.
func (s *secrets) tidy(text string, most int) string {
	if s != nil {
		text = s.replacer.Replace(text)
	}
	return program.Tidy(text, most)
}
