package node

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/family"
)

const (
	valueMax = 64 << 10  // bytes of one variable: Linux passes no string over 128 KiB to a program
	totalMax = 512 << 10 // bytes of all variables: Linux returns arguments and environment at least this much by default
)

// Variable is one entry of the environment. Path says which part of the configuration it comes from.
type Variable struct {
	Name, Value string
	path        []string
}

// Variables makes a variable of every scalar, and of every list of scalars, in a configuration: config {lb: {port: 8080}} is
// CONFIG_LB_PORT=8080. They come sorted by name. Warnings tell what the environment does not show truly: of several paths
// that end in the same name the last in path order wins, and values that no program could be started with are left out.
// Everything is in the JSON, which comes too.
func Variables(config map[string]any) (vars []Variable, asJSON []byte, warnings []string, err error) {
	if len(config) == 0 {
		return nil, []byte("{}"), nil, nil
	}
	if asJSON, err = json.Marshal(config); err != nil {
		return nil, nil, nil, app.Errorf(app.EInvalid, "Can't encode the cluster configuration as JSON: %w", err)
	}
	// One way through JSON makes one kind of value of the many that YAML, Go and JSON have.
	var plain map[string]any
	dec := json.NewDecoder(bytes.NewReader(asJSON))
	dec.UseNumber()
	if err := dec.Decode(&plain); err != nil {
		return nil, nil, nil, fmt.Errorf("reading the cluster configuration: %w", err)
	}

	var all []Variable
	walk(nil, plain, func(path []string, value string) {
		all = append(all, Variable{Name: variableName(path), Value: value, path: slices.Clone(path)})
	})
	slices.SortFunc(all, func(a, b Variable) int { return slices.Compare(a.path, b.path) })
	byName := map[string]Variable{}
	for _, v := range all {
		if old, taken := byName[v.Name]; taken {
			warnings = append(warnings, fmt.Sprintf("%s is both %s and %s in the configuration; the script uses the latter",
				v.Name, strings.Join(old.path, "."), strings.Join(v.path, ".")))
		}
		byName[v.Name] = v
	}

	total := 0
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		v := byName[name]
		size := len(v.Name) + len(v.Value) + 2
		if size > valueMax || total+size > totalMax {
			warnings = append(warnings, fmt.Sprintf("%s is too large for the environment (%d bytes); read it from $MUSTER_CONFIG", v.Name, len(v.Value)))
			continue
		}
		if strings.ContainsRune(v.Value, 0) {
			warnings = append(warnings, fmt.Sprintf("%s contains NUL characters, which were removed", v.Name))
			v.Value = strings.ReplaceAll(v.Value, "\x00", "")
		}
		total += size
		vars = append(vars, v)
	}
	return vars, asJSON, warnings, nil
}

// walk calls tell for each scalar and each list of scalars.
func walk(path []string, value any, tell func(path []string, value string)) {
	if s, ok := scalar(value); ok {
		tell(path, s)
		return
	}
	switch v := value.(type) {
	case map[string]any:
		for k, below := range v {
			walk(append(path, k), below, tell)
		}
	case []any:
		var words []string
		for _, e := range v {
			s, ok := scalar(e)
			if !ok {
				return
			}
			words = append(words, s)
		}
		tell(path, strings.Join(words, " "))
	}
}

// scalar writes a value the way a person would: 8080, not 8.08e+03. Null is empty.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case json.Number:
		s := v.String()
		if strings.ContainsAny(s, "eE") {
			if f, err := v.Float64(); err == nil {
				return strconv.FormatFloat(f, 'f', -1, 64), true
			}
		}
		return s, true
	}
	return "", false
}

// variableName joins a path by "_", in capitals, with everything else that a name cannot hold replaced by "_".
func variableName(path []string) string {
	return "CONFIG_" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, strings.Join(path, "_"))
}

// Identity are the variables that do not come from the configuration, sorted by name.
func Identity(c family.ServiceCall) []Variable {
	vars := []Variable{
		{Name: "MUSTER_TENANT", Value: c.Tenant},
		{Name: "MUSTER_CLUSTER", Value: c.Cluster},
		{Name: "MUSTER_NODE", Value: c.Node},
		{Name: "MUSTER_HOSTNAME", Value: c.Hostname},
		{Name: "MUSTER_OWNER", Value: c.Owner},
		{Name: "MUSTER_SERVICE", Value: c.Service},
		{Name: "MUSTER_ACTION", Value: string(c.Action)},
		{Name: "MUSTER_OPERATION", Value: strconv.FormatInt(c.Operation, 10)},
		{Name: "MUSTER_STEP", Value: c.Step},
	}
	slices.SortFunc(vars, func(a, b Variable) int { return cmp.Compare(a.Name, b.Name) })
	return vars
}

// Seen leaves of a configuration the values whose variables are named.
func Seen(config map[string]any, named func(variable string) bool) map[string]any {
	return seen(nil, config, named)
}

func seen(path []string, config map[string]any, named func(variable string) bool) map[string]any {
	out := map[string]any{}
	for k, v := range config {
		at := append(slices.Clone(path), k)
		if below, ok := v.(map[string]any); ok {
			if in := seen(at, below, named); len(in) > 0 {
				out[k] = in
			}
		} else if named(variableName(at)) {
			out[k] = v
		}
	}
	return out
}
