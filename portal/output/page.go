package output

import (
	"net/url"
	"strings"

	"muster/app"
	"muster/app/output"
	"muster/app/template"
	"muster/portal/page"
)

// Page is the page of a cluster's outputs.
type Page struct {
	List     output.List
	Cluster  app.Cluster
	Tabs     page.ClusterTabs
	Revealed string // the secret output whose value is shown; "" for none
}

func path(l output.List, more string) string {
	return "/clusters/" + url.PathEscape(l.Cluster) + "/outputs" + more
}

// opens reports whether a value is an address that browsers may follow.
func opens(o output.Output) bool {
	u, err := url.Parse(o.Value)
	return o.Type == template.OutputURL && err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

func isFile(o output.Output) bool { return o.Type == template.OutputFile }

// lines reports whether a value has several lines.
func lines(o output.Output) bool { return strings.Contains(o.Value, "\n") }
