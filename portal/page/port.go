package page

import (
	"net/url"

	"muster/app/port"
)

// PortURL is the portal's address that leads to a page of a port of a node, which is on a name of its own.
func PortURL(a port.Address, path string) string {
	return "/ports/" + a.Label() + "?" + url.Values{"path": {path}}.Encode()
}
