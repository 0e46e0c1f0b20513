package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"go.yaml.in/yaml/v3"
	"muster/app/file/catalog/form"
	"muster/app/layout"
	"muster/app/template"
)

// maxHosts is how many hosts a file may list.
const maxHosts = 100_000

type hostsDoc struct {
	Provider string    `yaml:"provider" doc:"Provider of the hosts. Default: the chosen one."`
	Hosts    []hostDoc `yaml:"hosts" need:"" doc:"Hosts available for nodes."`
}

type hostDoc struct {
	Name     string      `yaml:"name" need:"" name:"" doc:"Unique name."`
	Hardware string      `yaml:"hardware" need:"" doc:"Hardware of the host's nodes."`
	Zone     string      `yaml:"zone" doc:"Zone of the host."`
	Nodes    int         `yaml:"nodes" need:"" least:"0" doc:"Number of nodes that still fit."`
	Free     hostFreeDoc `yaml:"free" doc:"Free resources. Missing ones aren't limited."`
	Has      []hostedDoc `yaml:"has" doc:"Nodes of other clusters on the host."`
}

type hostFreeDoc struct {
	CPU      *float64 `yaml:"cpu" least:"0" doc:"Virtual cores."`
	MemoryGB *float64 `yaml:"memory_gb" least:"0" doc:"Memory in GiB."`
	DiskGB   *float64 `yaml:"disk_gb" least:"0" doc:"Disk in GiB."`
}

type hostedDoc struct {
	Cluster  string   `yaml:"cluster" need:"" doc:"Cluster of the node."`
	Services []string `yaml:"services" doc:"Services on the node."`
	Alone    bool     `yaml:"alone" doc:"Whether the node shares its host with no other cluster."`
	Apart    []string `yaml:"apart" doc:"Services of other clusters to keep off the host."`
}

// ReadHosts reads a list of hosts, as YAML or JSON. File is its name, for messages. The error is Problems, with all that
// is wrong.
func ReadHosts(file string, data []byte) (*layout.HostPool, error) {
	out := &form.Reporter{}
	if len(data) > maxFileSize {
		out.Add(form.Problem{Origin: template.Origin{File: file}, Severity: form.SeverityError, Message: fmt.Sprintf("the file is larger than %d bytes", maxFileSize)})
		return nil, out.Sorted()
	}
	doc, node := readHosts(out, file, data)
	if out.Errors == 0 {
		checkHosts(out, file, node, doc)
	}
	if out.Errors > 0 {
		return nil, out.Sorted()
	}
	pool := &layout.HostPool{Provider: doc.Provider, Hosts: []layout.Host{}}
	for _, h := range doc.Hosts {
		host := layout.Host{Name: h.Name, Hardware: h.Hardware, Zone: h.Zone, Nodes: h.Nodes, Free: layout.HostFree(h.Free)}
		for _, n := range h.Has {
			host.Has = append(host.Has, layout.HostedNode(n))
		}
		pool.Hosts = append(pool.Hosts, host)
	}
	return pool, nil
}

func readHosts(out *form.Reporter, file string, data []byte) (doc hostsDoc, node *yaml.Node) {
	var n yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	err := dec.Decode(&n)
	if errors.Is(err, io.EOF) || err == nil && len(n.Content) == 0 {
		out.Add(form.Problem{Origin: template.Origin{File: file}, Severity: form.SeverityError, Message: "the file is empty",
			Hint: "list hosts: [{name: r1, hardware: small, nodes: 4}]"})
		return doc, nil
	}
	if err != nil {
		form.ReportSyntax(out, file, form.YAMLError(err))
		return doc, nil
	}
	nodes := 0
	d := &form.Decoder{Out: out, File: file, Nodes: &nodes}
	d.Value(n.Content[0], form.ValueOf(&doc), "")
	if err := dec.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		out.Add(form.Problem{Origin: template.Origin{File: file}, Severity: form.SeverityError, Message: "the file has more than one document"})
	}
	if len(doc.Hosts) > maxHosts {
		d.Report(n.Content[0], "hosts", form.SeverityError, fmt.Sprintf("at most %d hosts are allowed", maxHosts), "")
	}
	return doc, n.Content[0]
}

// checkHosts looks for names that come twice, or are empty.
func checkHosts(out *form.Reporter, file string, node *yaml.Node, doc hostsDoc) {
	e := &form.Entry{File: file, Node: node}
	say := func(path []any, format string, args ...any) {
		n := e.At(path...)
		out.Add(form.Problem{Origin: template.Origin{File: file, Line: n.Line}, Column: n.Column, Severity: form.SeverityError,
			Message: e.Spell(path) + fmt.Sprintf(format, args...)})
	}
	first := map[string]int{}
	for i, h := range doc.Hosts {
		if at, twice := first[h.Name]; twice {
			say([]any{"hosts", i, "name"}, " is %s, as is that of hosts[%d]", h.Name, at)
		} else {
			first[h.Name] = i
		}
		for j, n := range h.Has {
			if k := slices.Index(n.Services, ""); k >= 0 {
				say([]any{"hosts", i, "has", j, "services", k}, " is empty")
			}
		}
	}
}
