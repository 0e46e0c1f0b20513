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
	"muster/app/humanize"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/families"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Environment lists the variables that a server reads, besides those named in catalogs, for docs/configuration.md and `muster server settings`.
// Listing one doesn't read it: that's done beside its flag, as in security_contact.go. Values of secrets are never shown.
var Environment = []struct {
	Name   string
	Secret bool
	Flag   string // takes precedence; "" for none
	About  string
}{
	{"DATABASE_URL", false, "", "PostgreSQL database, which several servers can share. Default: SQLite in the data directory."},
	{"REDIS_URL", false, "", "Redis to use as queue. Default: a queue in the server process."},
	{"MUSTER_SECRET_KEY", true, "", "Key-encryption key for secrets. Default: a key file in the data directory."},
	{adminPasswordEnv, true, "", "Password of the first account. Remove the variable afterwards: it's only used to create the account."},
	{"MUSTER_DATA", false, "data", "Directory for database, keys and provider state."},
	{"MUSTER_CATALOG", false, "catalog", "Catalog directories."},
	{"MUSTER_PUBLIC_URL", false, "public-url", "Public URL of the portal."},
	{"MUSTER_APPS_DOMAIN", false, "apps-domain", "Domain below which ports of nodes have names of their own."},
	{families.PluginsEnv, false, "provider-plugins", "Directory of provider plugins."},
	{families.PluginsEnvEnv, false, "provider-plugins-env", "Names of the variables passed to provider plugins."},
	{families.AutomatorsEnv, false, "automator-plugins", "Directory of automator plugins."},
	{families.AutomatorsEnvEnv, false, "automator-plugins-env", "Names of the variables passed to automator plugins."},
	{families.ChefEnv, false, "chef-package", "Chef or Cinc packages for nodes without Chef."},
	{otlpEnv, false, "otlp-endpoint", "OpenTelemetry collector for traces over HTTP."},
	{"MUSTER_BLOB_URL", false, "blob", "Blob store for resources. Default: the data directory."},
	{"MUSTER_SECURITY_CONTACT", false, "security-contact", "Contact for vulnerability reports."},
	{"MUSTER_SECURITY_POLICY", false, "security-policy", "Vulnerability disclosure policy."},
	{"MUSTER_SMTP_URL", false, "smtp-url", "Mail server for notifications. Default: no email."},
	{"MUSTER_SMTP_FROM", false, "smtp-from", "Sender of emails."},
	{smtpPasswordEnv, true, "", "Password of the mail server."},
	{"MUSTER_TRUSTED_PROXIES", false, "trusted-proxies", "Networks of proxies that are trusted to report client addresses."},
	{"MUSTER_SIGN_IN", false, "sign-in", "File with identity providers."},
	{"SLACK_SIGNING_SECRET", true, "", "Signing secret to verify requests from Slack."},
	{"SLACK_APP_TOKEN", true, "", "App token for a websocket to Slack."},
	{"SLACK_BOT_TOKEN", true, "", "Bot token for one workspace."},
	{"SLACK_CLIENT_ID", false, "", "Client ID, if many workspaces install Muster."},
	{"SLACK_CLIENT_SECRET", true, "", "Client secret for SLACK_CLIENT_ID."},
	{"MUSTER_SLACK_TENANT", false, "", "Tenant of the single workspace."},
	{"SLACK_API_URL", false, "", "URL of Slack's API. Default: https://slack.com/api/; for GovSlack: https://slack-gov.com/api/."},
	{"MUSTER_CURRENCY", false, "", "Currency of the installation (ISO 4217), for providers and tenants without their own. Default: USD. Set it before you create the first cluster, since amounts aren't converted later."},
}

// settingsOf returns all settings of a server by name: flags and environment, without secrets.
func settingsOf(cmd *cobra.Command, lookup func(string) (string, bool)) []fleet.Setting {
	byFlag := map[string]string{} // the variable that sets a flag's default
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
			return // client flags
		}
		_, about := pflag.UnquoteUsage(f)
		s := fleet.Setting{Name: "--" + f.Name, Value: withoutPassword(plainValue(f)), Set: f.Changed, From: "default", Default: f.DefValue, About: about}
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

// withoutPassword removes user names and passwords from URLs.
func withoutPassword(value string) string {
	parts := strings.Split(value, ",")
	for i, text := range parts {
		u, err := url.Parse(text)
		switch {
		case !strings.Contains(text, "://"):
		case err != nil:
			parts[i] = "(invalid URL)"
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

// facts describes the server for operators.
func (s *Server) facts(ctx context.Context) (fleet.ServerInfo, error) {
	d, err := s.Store.Info(ctx)
	if err != nil {
		return fleet.ServerInfo{}, err
	}
	f := fleet.ServerInfo{Server: s.id, Version: cli.VersionName(), Go: runtime.Version(), StartedAt: s.began, Uptime: time.Since(s.began).Round(time.Second),
		Database: d.Kind + " " + d.Version, Migration: d.Migration, Skew: d.Skew, Redis: s.QueueNote, Leader: d.Leads, Settings: slices.Clone(s.Settings)}
	if f.Settings == nil {
		f.Settings = []fleet.Setting{}
	}
	ping, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := s.queue.Ping(ping); err != nil {
		f.RedisError = withoutPassword(app.AsError(err).Message)
	}
	return f, nil
}

// plainValue writes durations as people do.
func plainValue(f *pflag.Flag) string {
	if d, err := time.ParseDuration(f.Value.String()); err == nil && f.Value.Type() == "duration" {
		return humanize.DurationField(d)
	}
	return f.Value.String()
}
