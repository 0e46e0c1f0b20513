package port

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"muster/app"
)

// Address is a port of a node.
type Address struct {
	Port    int
	TLS     bool // what listens there speaks TLS
	Node    string
	Cluster string // id
}

// separator is between the parts of a label. Names of nodes have no hyphens, and ids of clusters none at the beginning.
const separator = "--"

var labelPart = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// maxLabel is how long a label of a DNS name may be.
const maxLabel = 63

// Label is the first label of the port's own name: "8080--n1--shop-1", or "8443s--n1--shop-1" for TLS.
func (a Address) Label() string {
	s := ""
	if a.TLS {
		s = "s"
	}
	return strconv.Itoa(a.Port) + s + separator + a.Node + separator + a.Cluster
}

// ParseLabel is the inverse of Label; EInvalid for anything else.
func ParseLabel(label string) (Address, error) {
	bad := &app.Error{Code: app.EInvalid, Message: "This isn't the address of a port.", Hint: "Open the port from its cluster's page."}
	first, rest, _ := strings.Cut(label, separator)
	node, cluster, _ := strings.Cut(rest, separator)
	digits, tls := strings.CutSuffix(first, "s")
	n, err := strconv.ParseUint(digits, 10, 16)
	a := Address{Port: int(n), TLS: tls, Node: node, Cluster: cluster}
	if err != nil || n == 0 || len(label) > maxLabel || !labelPart.MatchString(node) || !labelPart.MatchString(cluster) || a.Label() != label {
		return Address{}, bad
	}
	return a, nil
}

// Of returns the port that a link of a cluster leads to, and the path there; false where it leads to none of the cluster's nodes.
func Of(c app.Cluster, nodes []app.Node, link string) (a Address, path string, ok bool) {
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return a, "", false
	}
	a = Address{Port: httpPort, TLS: u.Scheme == "https", Cluster: c.ID}
	if a.TLS {
		a.Port = httpsPort
	}
	if text := u.Port(); text != "" {
		if a.Port, err = strconv.Atoi(text); err != nil {
			return a, "", false
		}
	}
	for _, n := range nodes {
		names := []string{n.Hostname, n.Addresses[app.AddressAccess], n.Addresses[app.AddressBind]}
		if host := u.Hostname(); n.Status == app.NodeReady && host != "" && slices.Contains(names, host) {
			a.Node = n.Name
			_, err := ParseLabel(a.Label())
			return a, u.RequestURI(), err == nil
		}
	}
	return a, "", false
}

const (
	httpPort  = 80
	httpsPort = 443
)
