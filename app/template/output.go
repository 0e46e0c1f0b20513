package template

import "muster/app"

// OutputType is what kind of value an output has, and how people get it.
type OutputType string

// The types. A file is downloaded; a secret is shown on demand, and each time is in the audit log.
const (
	OutputText   OutputType = "text"
	OutputURL    OutputType = "url"
	OutputSecret OutputType = "secret"
	OutputFile   OutputType = "file"
)

// OutputTypes are all of them.
var OutputTypes = []OutputType{OutputText, OutputURL, OutputSecret, OutputFile}

// Output is a value of a cluster that people use from outside, such as a connection string or a kubeconfig. Value has
// macros, and references to the cluster's configuration and to generated secrets.
type Output struct {
	Name        string     `json:"name"`
	Type        OutputType `json:"type"`
	Value       string     `json:"value"`
	Description string     `json:"description,omitempty"`
	File        string     `json:"file,omitempty"` // name of a downloaded file; "": as the output
	Mode        string     `json:"mode,omitempty"` // permissions of the file, such as 0600; "": that
	Env         string     `json:"env,omitempty"`  // name of the variable; "": of the cluster and the output
}

// MacrosOf returns the services and facts that the macros of a text name; none of a text whose macros are wrong.
func MacrosOf(text string) (services []string, facts []app.FactName) {
	parts, _ := SplitMacros(text)
	for _, p := range parts {
		if p.Macro == nil || p.Macro.Service == "" {
			continue
		}
		services = append(services, p.Macro.Service)
		if p.Macro.kind == macroFact {
			facts = append(facts, app.FactName{Service: p.Macro.Service, Name: p.Macro.field})
		}
	}
	return services, facts
}

// CheckMacros returns what is wrong with the macros of a text that belongs to no node, but may name facts; "" for
// nothing.
func CheckMacros(text string) (wrong, hint string) {
	parts, problem := SplitMacros(text)
	if problem != nil {
		e := problem.at("the value")
		return e.Message, e.Hint
	}
	for _, p := range parts {
		if m := p.Macro; m != nil && m.ofNode() && m.kind != macroFact {
			return m.source + " isn't known in an output, which belongs to no node", "name a node by its service, as in %host.service.web[0]%"
		}
	}
	return "", ""
}
