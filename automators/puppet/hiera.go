package puppet

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"muster/app"
	"muster/app/family"
)

// hieraYAML is the hierarchy: the cluster's configuration, whole and by the names of classes' parameters, and below it what came as resources.
func hieraYAML(call family.ServiceCall, data []string) string {
	type level struct {
		Name     string   `json:"name"`
		Datadir  string   `json:"datadir,omitempty"`
		DataHash string   `json:"data_hash"`
		Paths    []string `json:"paths"`
	}
	all := struct {
		Version   int     `json:"version"`
		Hierarchy []level `json:"hierarchy"`
	}{5, []level{{"cluster configuration", "../data", "json_data", []string{"config.json", "classes.json"}}}}
	for _, dir := range data {
		all.Hierarchy = append(all.Hierarchy, level{"resource " + dir[strings.LastIndexByte(dir, '/')+1:], dir, "yaml_data", []string{"nodes/" + call.Node + ".yaml", "common.yaml"}})
	}
	b, _ := json.Marshal(all) // of strings it never fails; JSON is YAML
	return string(b)
}

// hieraData is the cluster configuration as two files: unchanged, and with a key for each part of it by the name that the parameter of a
// class has, so that config {web: {port: 80}} is the parameter port of the class web.
func hieraData(config map[string]any) (whole, classes string, err error) {
	if config == nil {
		config = map[string]any{}
	}
	asJSON, err := json.Marshal(config)
	if err != nil {
		return "", "", app.Errorf(app.EInvalid, "Can't encode the cluster configuration as JSON: %w", err)
	}
	var plain map[string]any
	dec := json.NewDecoder(bytes.NewReader(asJSON))
	dec.UseNumber()
	if err := dec.Decode(&plain); err != nil {
		return "", "", app.Errorf(app.EInvalid, "Can't read the cluster configuration: %w", err)
	}
	byClass := map[string]any{}
	for k, v := range plain {
		v = literal(v)
		plain[k] = v
		parameters(byClass, []string{k}, v)
	}
	write := func(v any) string {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(v) // what was read is written again
		return strings.TrimSpace(b.String())
	}
	return write(plain), write(byClass), nil
}

var part = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// parameters adds what is below a path by the names of parameters. Only names that a class or a parameter can have count.
func parameters(into map[string]any, path []string, v any) {
	if !part.MatchString(path[len(path)-1]) {
		return
	}
	if len(path) > 1 {
		into[strings.Join(path, "::")] = v
	}
	if below, ok := v.(map[string]any); ok && len(path) < 8 {
		for k, v := range below {
			parameters(into, append(slices.Clone(path), k), v)
		}
	}
}

// literal makes Hiera take texts as they are: it would put something else for %{…}.
func literal(v any) any {
	text := func(s string) string { return strings.ReplaceAll(s, "%{", "%{literal('%')}{") }
	switch v := v.(type) {
	case string:
		return text(v)
	case []any:
		for i := range v {
			v[i] = literal(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[text(k)] = literal(e)
		}
		return out
	}
	return v
}

// factsOf is the structured fact muster, without what only the node knows.
func factsOf(call family.ServiceCall) (string, error) {
	type peer struct {
		Address  string   `json:"address"`
		Names    []string `json:"names"`
		Services []string `json:"services"`
	}
	peers := []peer{}
	for _, p := range call.Peers {
		peers = append(peers, peer{p.Address, orEmpty(p.Names), orEmpty(p.Services)})
	}
	b, err := json.Marshal(map[string]any{
		"tenant": call.Tenant, "cluster": call.Cluster, "node": call.Node, "hostname": call.Hostname, "owner": call.Owner, "service": call.Service,
		"action": string(call.Action), "operation": call.Operation, "step": call.Step, "resources": call.Resources, "services": orEmpty(call.Services), "peers": peers,
	})
	if err != nil {
		return "", app.Errorf(app.EInvalid, "Can't encode the node's facts: %w", err)
	}
	return string(b), nil
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
