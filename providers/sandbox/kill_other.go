//go:build unix && !linux

package sandbox

import "context"

// killNode can do nothing here: other systems do not show a process's environment as a file. Sessions have
// ended with their server by now; what they put into sessions of their own stays.
func killNode(context.Context, string, string) error { return nil }
