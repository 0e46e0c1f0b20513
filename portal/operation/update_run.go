package operation

import (
	"net/url"
	"strings"
)

// readCommand reads the command to run.
func (f *changeForm) readCommand(in url.Values) {
	o := &f.page.Form
	o.Command, o.Timeout = strings.ReplaceAll(in.Get("command"), "\r\n", "\n"), strings.TrimSpace(in.Get("timeout"))
	f.ask.Command, f.ask.Timeout = o.Command, o.Timeout
	f.whole = strings.TrimSpace(o.Command) != ""
}
