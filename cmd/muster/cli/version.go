package cli

import (
	"runtime/debug"
)

// Version is set by the linker in a release: -ldflags "-X muster/cmd/muster/cli.Version=1.2.3".
var Version string

// VersionName returns the version of a release, else the commit that this was built from, else "devel".
func VersionName() string {
	if Version != "" {
		return Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	revision, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+changes"
		}
	}
	if revision == "" {
		return "devel"
	}
	return "devel-" + revision[:min(12, len(revision))] + changed
}
