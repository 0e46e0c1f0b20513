package server

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/fleet"
	"muster/app/humanize"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

// Command shows superadmins a running server's state.
func Command(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{Use: "server", Short: "Show the state of the running server (superadmins)"}
	cmd.AddCommand(serverSettingsCommand(c), serverProvidersCommand(c), serverReadyCommand(c))
	return cmd
}

func serverSettingsCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use: "settings", Short: "Show the server's settings, database and queue", Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			var f fleet.ServerInfo
			if err := cl.Call(cmd.Context(), http.MethodGet, "/settings", nil, nil, &f); err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(f)
			}
			leads := "no"
			if f.Leader {
				leads = "yes"
			}
			redis := f.Redis
			if f.RedisError != "" {
				redis += " (isn't responding: " + f.RedisError + ")"
			}
			fmt.Fprintf(c.Stdout, "server    %s\nversion   %s (%s)\nuptime    %s\nleader    %s\ndatabase  %s, migration %d, clock %d ms ahead\nqueue     %s\n\n",
				f.Server, f.Version, f.Go, humanize.Duration(f.Uptime), leads, f.Database, f.Migration, f.Skew.Milliseconds(), redis)
			t := cli.NewTable("SETTING", "VALUE", "SOURCE", "DESCRIPTION")
			for _, s := range f.Settings {
				t.Add(s.Name, settingWords(s), s.From, s.About)
			}
			return t.Show(c)
		},
	}
}

func settingWords(s fleet.Setting) string {
	switch {
	case s.Secret && s.Set:
		return "set, secret"
	case s.Value == "":
		return "-"
	}
	return s.Value
}

func serverProvidersCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use: "providers", Short: "Show API calls, errors and remaining rate limits of provider accounts", Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			var out struct {
				Providers []fleet.ProviderHealth `json:"providers"`
			}
			if err := cl.Call(cmd.Context(), http.MethodGet, "/provider-health", nil, nil, &out); err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(out)
			}
			now := time.Now()
			ago := func(t time.Time) string {
				if t.IsZero() {
					return "-"
				}
				return humanize.Ago(now, t)
			}
			t := cli.NewTable("PROVIDER", "TYPE", "CALLS/H>", "FAILED/H", "REMAINING>", "THROTTLED", "WAITING>", "LAST CALL", "LISTED", "LAST ERROR")
			for _, p := range out.Providers {
				all, _ := p.Calls()
				left, throttled := "-", "-"
				if p.Rate.Limited() && p.Known {
					left = fmt.Sprintf("%.0f of %d", p.Remaining, p.Rate.Burst)
				}
				if p.Throttled > 0 {
					throttled = "for " + humanize.Duration(p.Throttled)
				}
				t.Add(p.Name, p.Type, strconv.Itoa(all), failedWords(p.Hour), left, throttled, strconv.Itoa(p.Waiting), ago(p.LastAt), ago(p.LastListing.EndedAt), cmp.Or(p.LastError, "-"))
			}
			return t.Show(c)
		},
	}
}

// failedWords lists failed calls by code, as in "3 timeout, 1 transient".
func failedWords(by map[app.Code]int) string {
	var words []string
	for code, n := range by {
		if code != "" {
			words = append(words, fmt.Sprintf("%d %s", n, code))
		}
	}
	slices.Sort(words)
	return cmp.Or(strings.Join(words, ", "), "-")
}
