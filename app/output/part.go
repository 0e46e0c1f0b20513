package output

import (
	"regexp"
	"slices"
	"strings"

	"muster/app"
	"muster/app/template"
)

// Part is a piece of an output's value: text with macros, or a reference.
type Part struct {
	Text string
	// Config is a path of the configuration, and Secret the name of a secret; "" of a text.
	Config, Secret string
	Escaped        bool // it is written as in a URL
}

var reference = regexp.MustCompile(`\$\{(config|secret):([^}|]*)(\|url)?\}`)

// Parts takes a value apart.
func Parts(value string) (parts []Part) {
	pos := 0
	for _, m := range reference.FindAllStringSubmatchIndex(value, -1) {
		if inMacro(value[:m[0]]) {
			continue // a part of the text: see inner
		}
		if m[0] > pos {
			parts = append(parts, Part{Text: value[pos:m[0]]})
		}
		p := Part{Escaped: m[6] >= 0}
		if name := value[m[4]:m[5]]; value[m[2]:m[3]] == "config" {
			p.Config = name
		} else {
			p.Secret = name
		}
		parts = append(parts, p)
		pos = m[1]
	}
	if pos < len(value) {
		parts = append(parts, Part{Text: value[pos:]})
	}
	return parts
}

// inMacro reports whether a macro begins in the text and doesn't end there.
func inMacro(text string) bool { return strings.Count(strings.ReplaceAll(text, "%%", ""), "%")%2 == 1 }

// inner puts settings in place of the references within the macros of a text, as in
// %map(ip.service.web,'$:${config:web.port}')%. Those that would change what the macro means are refused.
func inner(text string, setting func(path string) (value, wrong string)) (out, wrong string) {
	out = reference.ReplaceAllStringFunc(text, func(ref string) string {
		m := reference.FindStringSubmatch(ref)
		value, bad := "", "only ${config:PATH} can be in a macro"
		if m[1] == "config" && m[3] == "" {
			value, bad = setting(m[2])
		}
		if bad == "" && !plain.MatchString(value) {
			bad = "Configuration " + m[2] + " can't be in a macro: it isn't a plain word or number."
		}
		if wrong == "" {
			wrong = bad
		}
		return value
	})
	return out, wrong
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_.:-]+$`)

// anySetting takes the place of a setting that isn't known yet.
func anySetting(string) (value, wrong string) { return "0", "" }

// Uses returns the services and facts that an output's value names itself, beside those of the configuration.
func Uses(o template.Output) (services []string, facts []app.FactName) {
	for _, p := range Parts(o.Value) {
		text, _ := inner(p.Text, anySetting)
		s, f := template.MacrosOf(text)
		services, facts = append(services, s...), append(facts, f...)
	}
	return services, facts
}

// IsSecret reports whether an output is only shown on demand: its type says so, or a secret is part of it.
func IsSecret(o template.Output) bool {
	if o.Type == template.OutputSecret {
		return true
	}
	_, facts := Uses(o)
	return slices.ContainsFunc(Parts(o.Value), func(p Part) bool { return p.Secret != "" }) ||
		slices.ContainsFunc(facts, func(f app.FactName) bool { return app.SecretFact(f.Name) })
}

// Variable is the name of the environment variable for an output of the named cluster: SHOP_DB_URL.
func Variable(o template.Output, cluster string) string {
	if o.Env != "" {
		return o.Env
	}
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, cluster+"_"+o.Name)
	if name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	if reservedEnv.MatchString(name) { // owners choose the names of clusters
		name = "CLUSTER_" + name
	}
	return name
}
