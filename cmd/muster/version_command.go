package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"muster/app/family"
	"muster/app/store/blob"
	"muster/app/store/db"
	"muster/app/store/kms"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/wiring"
	"muster/providers"
)

func versionCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, and what was left out of the build",
		Args:  cli.AtMost(0),
		RunE: func(*cobra.Command, []string) error {
			left := leftOut()
			if c.JSON() {
				return c.PrintJSON(map[string]any{"version": cli.VersionName(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH, "left_out": left})
			}
			_, err := fmt.Fprintf(c.Stdout, "muster %s (%s %s/%s)\n", cli.VersionName(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			if err == nil && len(left) > 0 {
				_, err = fmt.Fprintf(c.Stdout, "Small build, without %s. %s\n", strings.Join(left, ", "), family.FullBuildHint)
			}
			return err
		},
	}
}

// leftOut names what a small build lacks; it's empty for a full build. No other place has the whole list.
func leftOut() []string {
	left := []string{}
	for _, name := range providers.LeftOut {
		left = append(left, "provider "+name)
	}
	for _, scheme := range slices.Concat(db.LeftOut, blob.LeftOut, kms.LeftOut) {
		left = append(left, scheme+"://")
	}
	if wiring.SecurityKeys() == nil {
		left = append(left, "security keys")
	}
	return left
}
