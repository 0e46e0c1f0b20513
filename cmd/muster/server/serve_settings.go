package server

import (
	"cmp"
	"context"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/fleet"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/families"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Environment is what a server reads of its environment, beside what catalogs name. Of secrets only that they are set is ever told.
var Environment = []struct {
	Name   string
	Secret bool
	Flag   string // that counts before it; "" for none
	About  string
}{
	{"DATABASE_URL", false, "", "A PostgreSQL that several servers may share; SQLite in the data directory without it."},
	{"REDIS_URL", false, "", "A Redis to use as queue; one inside the process without it."},
	{"MUSTER_SECRET_KEY", true, "", "The key that wraps those that secrets are sealed with; a key file in the data directory without it."},
	{adminPasswordEnv, true, "", "The password of the first account, when that is made. Remove the variable afterwards: it is read once, and never again."},
	{"MUSTER_DATA", false, "data", "Where database, keys and the state of providers are kept."},
	{"MUSTER_CATALOG", false, "catalog", "Directories of the catalog."},
	{"MUSTER_PUBLIC_URL", false, "public-url", "The URL at which people reach the portal."},
	{families.PluginsEnv, false, "provider-plugins", "A directory of providers in programs of their own."},
	{families.PluginsEnvEnv, false, "provider-plugins-env", "Names of the variables that these programs get."},
	{families.AutomatorsEnv, false, "automator-plugins", "A directory of automators in programs of their own."},
	{families.AutomatorsEnvEnv, false, "automator-plugins-env", "Names of the variables that these programs get."},
	{families.ChefEnv, false, "chef-package", "Packages of Chef or Cinc for nodes without one."},
	{otlpEnv, false, "otlp-endpoint", "An OpenTelemetry collector that takes traces over HTTP."},
	{"MUSTER_BLOB_URL", false, "blob", "A place for contents of resources; the data directory without it."},
	{"MUSTER_SECURITY_CONTACT", false, "security-contact", "Where vulnerabilities are reported."},
	{"MUSTER_SECURITY_POLICY", false, "security-policy", "The page that says how reports are handled."},
	{"MUSTER_TRUSTED_PROXIES", false, "trusted-proxies", "Networks of proxies that are believed when they say whom they ask for."},
	{"MUSTER_SIGN_IN", false, "sign-in", "A file with identity providers."},
	{"SLACK_SIGNING_SECRET", true, "", "Proves that requests come from Slack."},
	{"SLACK_APP_TOKEN", true, "", "Opens a websocket to Slack."},
	{"SLACK_BOT_TOKEN", true, "", "Speaks in one workspace."},
	{"SLACK_CLIENT_ID", false, "", "With the secret below, lets many workspaces install Muster."},
	{"SLACK_CLIENT_SECRET", true, "", "Proves to Slack that it is this server that installs."},
	{"MUSTER_SLACK_TENANT", false, "", "Whose the one workspace is."},
	{"SLACK_API_URL", false, "", "Where Slack's methods are called; https://slack.com/api/ without it, https://slack-gov.com/api/ for GovSlack."},
	{"MUSTER_CURRENCY", false, "USD", "The installation's currency, by ISO 4217: that of providers and tenants which name no other. Set it before the first cluster, since costs keep their amounts."},
}

// settingsOf returns every setting of a server, by name: its flags and its environment. None holds a secret.
func settingsOf(cmd *cobra.Command, lookup func(string) (string, bool)) []fleet.Setting {
	byFlag := map[string]string{} // the variable that returns a flag where it is not given itself
	all := []fleet.Setting{}
	for _, e := range Environment {
		value, set := lookup(e.Name)
		s := fleet.Setting{Name: e.Name, Secret: e.Secret, Set: set && value != "", From: "default", About: e.About}
		if s.Set {
			s.From = "environment"
			if byFlag[e.Flag] = e.Name; !e.Secret {
				s.Value = withoutPassword(value)
			}
		}
		all = append(all, s)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || slices.Contains([]string{"help", "server", "token", "ca-fingerprint", "tenant", "output", "json"}, f.Name) {
			return // those of clients
		}
		_, about := pflag.UnquoteUsage(f)
		s := fleet.Setting{Name: "--" + f.Name, Value: withoutPassword(f.Value.String()), Set: f.Changed, From: "default", Default: f.DefValue, About: about}
		switch {
		case f.Changed:
			s.From = "flag"
		case byFlag[f.Name] != "":
			s.From, s.Value = "environment, "+byFlag[f.Name], ""
		}
		all = append(all, s)
	})
	slices.SortStableFunc(all, func(x, y fleet.Setting) int { return cmp.Compare(x.Name, y.Name) })
	return all
}

// withoutPassword takes who signs in, and with what, out of URLs.
func withoutPassword(value string) string {
	parts := strings.Split(value, ",")
	for i, text := range parts {
		u, err := url.Parse(text)
		switch {
		case !strings.Contains(text, "://"):
		case err != nil:
			parts[i] = "(an address that cannot be read)"
		default:
			if u.User != nil {
				u.User = url.User("…")
			}
			if u.RawQuery != "" {
				u.RawQuery = "…"
			}
			parts[i], _ = url.PathUnescape(u.String())
		}
	}
	return strings.Join(parts, ",")
}

// facts tells operators how the server is.
func (s *Server) facts(ctx context.Context) (fleet.ServerFacts, error) {
	d, err := s.Store.Facts(ctx)
	if err != nil {
		return fleet.ServerFacts{}, err
	}
	f := fleet.ServerFacts{Server: s.id, Version: cli.VersionName(), Go: runtime.Version(), StartedAt: s.began, Uptime: time.Since(s.began).Round(time.Second),
		Database: d.Kind + " " + d.Version, Migration: d.Migration, Skew: d.Skew, Redis: s.QueueNote, Leads: d.Leads, Settings: slices.Clone(s.Settings)}
	if f.Settings == nil {
		f.Settings = []fleet.Setting{}
	}
	ping, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := s.queue.Ping(ping); err != nil {
		f.RedisDown = withoutPassword(app.AsError(err).Message)
	}
	return f, nil
}
