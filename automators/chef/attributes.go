package chef

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"muster/app"
	"muster/app/family"
)

const (
	maxJSON  = 1 << 20 // bytes of json_attributes
	maxItems = 500     // of a run list
)

// macro is what is put in later, when the call is made for a node: where a catalog is read it matches any value.
var macro = regexp.MustCompile(`%[A-Za-z][^%\s"]*%`)

// readAttributes understands json_attributes: an object, or nothing.
func readAttributes(text string) (map[string]any, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	refuse := func(why string) error {
		return &app.Error{Code: app.EInvalid, Reason: "not_json", Field: "json_attributes", Message: "json_attributes isn't a valid JSON object: " + why + ".",
			Hint: `For example, {"apache": {"port": 8080}}.`}
	}
	if len(text) > maxJSON {
		return nil, refuse(fmt.Sprintf("it exceeds %d bytes", maxJSON))
	}
	attributes, err := decode([]byte(text))
	if err != nil {
		return nil, refuse(strings.TrimPrefix(err.Error(), "json: "))
	}
	return attributes, nil
}

// checkAttributes is readAttributes for text in which macros are not expanded yet.
func checkAttributes(text string) error {
	_, err := readAttributes(text)
	if err != nil && macro.MatchString(text) {
		_, again := readAttributes(macro.ReplaceAllString(text, "0"))
		if again == nil {
			return nil
		}
	}
	return err
}

func decode(b []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("it isn't an object")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is text after the object")
	}
	return object, nil
}

// merged is a deep merge: objects are merged, and of everything else what is over wins. Neither argument is changed.
func merged(under, over map[string]any) map[string]any {
	out := maps.Clone(under)
	if out == nil {
		out = map[string]any{}
	}
	for k, v := range over {
		a, isA := out[k].(map[string]any)
		b, isB := v.(map[string]any)
		if isA && isB {
			out[k] = merged(a, b)
		} else {
			out[k] = v
		}
	}
	return out
}

// attributes returns all attributes of a run, as JSON with sorted keys: the cluster configuration with the service's own attributes merged over
// it is at the top, and once more as coopr.cluster, together with all nodes; coopr has Coopr's other values; muster has the same and what only
// Muster knows. Where
// configuration or service say something below coopr or muster themselves, both are there, and what is notified of the cluster wins. outputs is muster.outputs.
func attributes(call family.ServiceCall, outputs string) ([]byte, error) {
	own, err := readAttributes(call.Fields["json_attributes"])
	if err != nil {
		return nil, err
	}
	plain, err := json.Marshal(call.Config)
	if err != nil {
		return nil, app.Errorf(app.EInvalid, "Can't encode the cluster configuration as JSON: %w", err)
	}
	config := map[string]any{}
	if len(call.Config) > 0 {
		if config, err = decode(plain); err != nil { // one kind of value, of the many that YAML, Go and JSON have
			return nil, fmt.Errorf("reading the cluster configuration: %w", err)
		}
	}
	top := merged(config, own)
	cluster := maps.Clone(top)
	nodes, addresses := nodesOf(call)
	cluster["nodes"] = nodes
	services := list(call.Services)
	coopr := map[string]any{"cluster": cluster, "services": services, "hostname": call.Hostname, "clusterId": call.Cluster, "ipaddresses": addresses}
	mine := maps.Clone(coopr)
	mine["tenant"], mine["node"], mine["owner"], mine["service"], mine["action"] = call.Tenant, call.Node, call.Owner, call.Service, string(call.Action)
	mine["outputs"] = outputs
	out, err := json.Marshal(merged(top, map[string]any{"coopr": coopr, "muster": mine}))
	if err != nil {
		return nil, fmt.Errorf("encoding the attributes as JSON: %w", err)
	}
	return out, nil
}

// cutAttributes returns all attributes in two parts, between which the place of the file for facts belongs: that is known on the node only.
func cutAttributes(call family.ServiceCall) (before, after string, err error) {
	for n := 0; ; n++ {
		mark := fmt.Sprintf("muster-outputs-%d", n) // the first that no one else has written
		text, err := attributes(call, mark)
		if err != nil {
			return "", "", err
		}
		if before, after, _ := strings.Cut(string(text), mark); !strings.Contains(after, mark) {
			return before, after, nil
		}
	}
}

// nodesOf tells of the nodes that are known, by name, and of this one's addresses.
func nodesOf(call family.ServiceCall) (nodes, own map[string]any) {
	nodes, own = map[string]any{}, map[string]any{}
	for _, p := range call.Peers {
		if len(p.Names) == 0 {
			continue
		}
		name, addresses := p.Names[len(p.Names)-1], map[string]any{}
		if p.Address != "" {
			addresses["access_v4"], addresses["bind_v4"] = p.Address, p.Address
		}
		nodes[name] = map[string]any{"id": name, "hostname": p.Names[0], "ipaddresses": addresses, "services": list(p.Services)}
		if name == call.Node || p.Names[0] == call.Hostname {
			own = addresses
		}
	}
	return nodes, own
}

func list(words []string) []any {
	out := []any{}
	for _, w := range words {
		out = append(out, w)
	}
	return out
}

// item is one of a run list: a recipe or a role. Chef takes a bare name for a recipe.
var item = regexp.MustCompile(`^(?:recipe\[[A-Za-z0-9_.-]+(?:::[A-Za-z0-9_.-]+)?(?:@[0-9][0-9.]*)?\]|role\[[A-Za-z0-9_.-]+\]|[A-Za-z0-9_.-]+(?:::[A-Za-z0-9_.-]+)?(?:@[0-9][0-9.]*)?)$`)

// readRunList understands a run list, with commas or line breaks between its items, and returns it in Chef's form.
func readRunList(text string) (string, error) {
	wrong := func(message string) error {
		return &app.Error{Code: app.EInvalid, Reason: "bad_run_list", Field: "run_list", Message: message, Hint: "For example, recipe[apache2::default],role[web]."}
	}
	items := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' })
	var out []string
	for _, one := range items {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		if !item.MatchString(one) {
			return "", wrong(fmt.Sprintf("%.100q isn't a valid recipe or role.", one))
		}
		if !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	switch {
	case len(out) == 0:
		return "", wrong("The chef-solo automator needs a run list.")
	case len(out) > maxItems:
		return "", wrong(fmt.Sprintf("The run list has more than %d items.", maxItems))
	}
	return strings.Join(out, ","), nil
}
