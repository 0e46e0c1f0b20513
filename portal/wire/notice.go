package wire

import "muster/app"

// Notice is a notice with its links, as paths of the portal.
type Notice struct {
	app.Notice
	// Path is the notice's page, such as /clusters/web-1; Action is the page of the most likely action, labelled ActionName, such as "Extend".
	Path       string `json:"path,omitempty"`
	Action     string `json:"action,omitempty"`
	ActionName string `json:"action_name,omitempty"`
}
