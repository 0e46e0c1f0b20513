package wire

import "muster/app"

// Notice is a notice with the addresses that it leads to, from the portal's root.
type Notice struct {
	app.Notice
	// Path leads to the page about it, such as /clusters/web-1; Action to the page with the one thing that is most likely wanted now,
	// named by ActionName, such as "Extend".
	Path       string `json:"path,omitempty"`
	Action     string `json:"action,omitempty"`
	ActionName string `json:"action_name,omitempty"`
}
