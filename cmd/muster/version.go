package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"muster/app"
	"muster/app/store/blob"
	"muster/app/store/db"
	"muster/app/store/kms"
	"muster/providers"
)

// version is set by the linker in a release: -ldflags "-X main.version=1.2.3".
var version string

func versionCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, and what a small build leaves out",
		Args:  atMost(0),
		RunE: func(*cobra.Command, []string) error {
			left := leftOut()
			if c.json() {
				return c.printJSON(map[string]any{"version": versionName(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH, "left_out": left})
			}
			_, err := fmt.Fprintf(c.stdout, "muster %s (%s %s/%s)\n", versionName(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			if err == nil && len(left) > 0 {
				_, err = fmt.Fprintf(c.stdout, "A small build, without %s. %s\n", strings.Join(left, ", "), app.FullBuildHint)
			}
			return err
		},
	}
}

// leftOut names what a small build lacks; it is empty for a full build. It is the one place that has the whole list.
func leftOut() []string {
	left := []string{}
	for _, name := range providers.LeftOut {
		left = append(left, "provider "+name)
	}
	for _, scheme := range slices.Concat(db.LeftOut, blob.LeftOut, kms.LeftOut) {
		left = append(left, scheme+"://")
	}
	if securityKeys() == nil {
		left = append(left, "security keys")
	}
	return left
}

// versionName gives the version of a release, else the commit that this was built from, else "devel".
func versionName() string {
	if version != "" {
		return version
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
