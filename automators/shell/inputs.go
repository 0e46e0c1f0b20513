package shell

import (
	"regexp"

	"muster/app/family"
	"muster/automators/internal/node"
)

var _ family.InputReader = Shell{}

var (
	interpreterLine = regexp.MustCompile(`^#!.*`)
	configWord      = regexp.MustCompile(`CONFIG_[A-Za-z0-9_]+`)
	ownWord         = regexp.MustCompile(`MUSTER_(?:TENANT|CLUSTER|NODE|HOSTNAME|OWNER|OPERATION|STEP)\b`)
	hostWord        = regexp.MustCompile(`\b(?:hostname|hostnamectl|machine-id|ifconfig)\b|/etc/hosts\b|\bip (?:a|addr|address|r|route|link)\b|\buname -[a-z]*n`)
	wholeWord       = regexp.MustCompile(`MUSTER_CONFIG|\$\{!|\b(?:eval|printenv|env|compgen|declare)\b|\bset\s*[|>;\n]|os\.environ|\bENV\b|process\.env`)
)

// Inputs carries out family.InputReader, by the words of a script. One that can get at the whole configuration sees all of it.
func (Shell) Inputs(fields map[string]string, config map[string]any) (seen map[string]any, why string) {
	text := interpreterLine.ReplaceAllString(fields["script"], "") + "\n" + fields["args"]
	if w := ownWord.FindString(text); w != "" {
		return nil, "its script uses " + w + ", which differs between nodes or clusters"
	}
	if w := hostWord.FindString(text); w != "" {
		return nil, "its script uses " + w + ", which differs between nodes"
	}
	if tells(family.ServiceCall{Fields: fields}) {
		return nil, "its script reports facts, which each node has to report itself"
	}
	if wholeWord.MatchString(text) {
		return config, ""
	}
	named := map[string]bool{}
	for _, w := range configWord.FindAllString(text, -1) {
		named[w] = true
	}
	return node.Seen(config, func(variable string) bool { return named[variable] }), ""
}
