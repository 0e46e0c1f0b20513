package template

import (
	"fmt"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/humanize"
)

// Expand returns the check as a node carries it out: macros and references to the configuration replaced. Config is that of the
// node, expanded. EInvalid (reason "health") where something that it names is not there, or makes no sense there.
func (h *HealthCheck) Expand(c MacroCluster, n app.Node, config map[string]any) (*HealthCheck, error) {
	out := *h
	out.HTTP = nil
	if h.HTTP != nil {
		http := *h.HTTP
		out.HTTP = &http
	}
	for field, into := range map[string]*string{"command": &out.Command, "tcp": &out.TCP, "http.port": nil, "http.path": nil} {
		text := h.text(field)
		switch {
		case !strings.Contains(text, "%"):
			continue
		case field == "http.port":
			into = &out.HTTP.Port
		case field == "http.path":
			into = &out.HTTP.Path
		}
		var err error
		if *into, err = expandHealth(field, text, c, n, config); err != nil {
			return nil, err
		}
	}
	if err := out.CheckExpanded(); err != nil {
		e := app.AsError(err)
		return nil, &app.Error{Code: app.EInvalid, Reason: "health", Message: "health." + e.Field + ": " + e.Message + ".", Hint: e.Hint}
	}
	if out.TCP != "" {
		host, port := splitHealthHost(out.TCP)
		if host == "" {
			host = n.Address(app.AddressBind)
		}
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		out.TCP = host + ":" + port
	}
	return &out, nil
}

func expandHealth(field, text string, c MacroCluster, n app.Node, config map[string]any) (string, error) {
	macros, err := ParseMacros(map[string]any{"text": aside(text)})
	if err != nil {
		return "", err
	}
	shared, err := macros.Shared(c)
	if err != nil {
		return "", err
	}
	expanded, err := shared.For(n)
	if err != nil {
		return "", err
	}
	text, _ = expanded["text"].(string)
	var missing string
	text = asideMark.ReplaceAllStringFunc(text, func(m string) string {
		path := strings.Trim(m, "\x00")
		value, ok := configValue(config, path)
		switch {
		case !ok:
			missing = path + " isn't a plain value in the configuration"
		case len(app.SecretNames(value)) > 0:
			missing = path + " contains a secret, which health checks can't use"
		case field == "command":
			return humanize.ShellQuote(value)
		}
		return value
	})
	if missing != "" {
		return "", &app.Error{Code: app.EInvalid, Reason: "health", Message: "health." + field + ": " + missing + ".",
			Hint: "Set the value in the cluster's configuration, or name another one in the catalog."}
	}
	return text, nil
}

// configValue finds a plain value by its path, as people write it.
func configValue(config map[string]any, path string) (string, bool) {
	var at any = config
	for _, key := range strings.Split(path, ".") {
		m, ok := at.(map[string]any)
		if !ok {
			return "", false
		}
		if at, ok = m[key]; !ok {
			return "", false
		}
	}
	switch v := at.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int, int64:
		return fmt.Sprint(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}
