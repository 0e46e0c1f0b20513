package offline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"muster/app"
	"muster/app/humanize"
	"muster/app/layout"
	"muster/cmd/muster/cli"
)

// existing is an existing cluster, read from a file. Template and Provider are "" if the file doesn't name them.
type existing struct {
	Template string
	Provider string
	Nodes    []layout.ExistingNode
}

// stateFile is such a file's format: the output of solve (layout, or the nodes of a change) or of cluster show.
type stateFile struct {
	Template string              `json:"template"`
	Provider string              `json:"provider"`
	Layout   *[]layout.NodeGroup `json:"layout"`
	Nodes    *[]stateNode        `json:"nodes"`
}

// stateNode is a node in one of the formats. Removed or deleted nodes are ignored.
type stateNode struct {
	layout.ExistingNode
	Deleted bool           `json:"deleted"`
	Status  app.NodeStatus `json:"status"`
}

// maxStateNodes is the maximum number of nodes in a file's groups.
const maxStateNodes = 1_000_000

// readState reads an existing cluster from a file, or from stdin for "-".
func readState(c *cli.Context, file string) (existing, error) {
	var b []byte
	var err error
	name := file
	if file == "-" {
		name = "stdin"
		b, err = io.ReadAll(c.Stdin)
	} else {
		b, err = os.ReadFile(file)
	}
	if err != nil {
		return existing{}, cli.Usagef("--from: %v", err)
	}
	s, err := parseState(b)
	if err != nil {
		return existing{}, cli.Usagef("--from: %s:%v", name, err).
			Hint("Use the JSON output of `muster solve` or `muster cluster show`, or a list of nodes: [{\"name\": \"n1\", \"hardware\": …, \"image\": …, \"services\": […]}].")
	}
	return s, nil
}

// parseState parses an existing cluster. Errors start with the position: "3:14: …", or " nodes[2] …".
func parseState(b []byte) (existing, error) {
	var f stateFile
	var err error
	if trimmed := bytes.TrimLeft(b, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '[' {
		err = decodeAll(b, &f.Nodes)
	} else {
		err = decodeAll(b, &f)
	}
	switch {
	case err != nil:
		return existing{}, err
	case f.Layout == nil && f.Nodes == nil:
		return existing{}, errors.New(` either "layout" or "nodes" is required`)
	}
	s := existing{Template: f.Template, Provider: f.Provider}
	if f.Nodes != nil {
		s.Nodes, err = named(*f.Nodes)
	} else {
		s.Nodes, err = expanded(*f.Layout)
	}
	return s, err
}

// decodeAll decodes the single JSON value in b.
func decodeAll(b []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	err := dec.Decode(v)
	if err == nil {
		if _, more := dec.Token(); more != io.EOF {
			return fmt.Errorf("%s: unexpected text after the JSON value", placeAt(b, dec.InputOffset()))
		}
		return nil
	}
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("%s: %s", placeAt(b, syntax.Offset-1), humanize.PlainError(syntax))
	case errors.As(err, &typed):
		what := strings.ReplaceAll(typed.Field, "ExistingNode.", "")
		if what == "" {
			what = "it"
		}
		return fmt.Errorf("%s: %s can't be a JSON %s", placeAt(b, typed.Offset-1), what, typed.Value)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: the JSON value is incomplete", placeAt(b, int64(len(b))))
	}
	return fmt.Errorf(" %w", err)
}

// placeAt returns line:column, from 1, of the byte at an offset.
func placeAt(b []byte, offset int64) string {
	before := b[:max(0, min(offset, int64(len(b))))]
	return fmt.Sprintf("%d:%d", bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n'))
}

// expanded numbers the nodes of groups in order.
func expanded(groups []layout.NodeGroup) (nodes []layout.ExistingNode, err error) {
	for i, g := range groups {
		switch {
		case g.Count < 1:
			return nil, fmt.Errorf(" layout[%d]: count must be at least 1, not %d", i, g.Count)
		case g.Count > maxStateNodes-len(nodes):
			return nil, fmt.Errorf(" layout[%d]: more than %d nodes", i, maxStateNodes)
		}
		n := layout.ExistingNode{Name: "n", Hardware: g.Hardware, Image: g.Image, Zone: g.Zone, Services: g.Services}
		if err := checkNode(fmt.Sprintf("layout[%d]", i), &n); err != nil {
			return nil, err
		}
		for range g.Count {
			n.Name = app.NodeName(len(nodes) + 1)
			nodes = append(nodes, n)
		}
	}
	return nodes, nil
}

// named returns the existing nodes.
func named(all []stateNode) (nodes []layout.ExistingNode, err error) {
	seen := map[string]int{}
	for i, n := range all {
		at := fmt.Sprintf("nodes[%d]", i)
		if n.Deleted || n.Status == app.NodeDeleted {
			continue
		}
		if err := checkNode(at, &n.ExistingNode); err != nil {
			return nil, err
		}
		if first, twice := seen[n.Name]; twice {
			return nil, fmt.Errorf(" %s has the same name %s as nodes[%d]", at, n.Name, first)
		}
		seen[n.Name] = i
		nodes = append(nodes, n.ExistingNode)
	}
	return nodes, nil
}

// checkNode rejects a node with missing fields, and sorts its services.
func checkNode(at string, n *layout.ExistingNode) error {
	for _, have := range []struct{ key, value string }{{"name", n.Name}, {"hardware", n.Hardware}, {"image", n.Image}} {
		if have.value == "" {
			return fmt.Errorf(" %s: %s is required", at, have.key)
		}
	}
	n.Services = slices.Sorted(slices.Values(n.Services))
	if len(slices.Compact(slices.Clone(n.Services))) < len(n.Services) {
		return fmt.Errorf(" %s lists a service twice", at)
	}
	return nil
}
