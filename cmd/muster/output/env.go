package output

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"net"
	"net/url"
	"strings"

	"muster/app/output"
	"muster/app/template"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/cluster"

	"github.com/spf13/cobra"
)

func envCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "env ID|NAME",
		Short: "Print the outputs of a cluster as variables for a shell or program",
		Long: "Print the outputs of a cluster with secret values, as variables. Files are left out, and so are outputs without a\n" +
			"value, which stderr names. With --format: shell (default, for eval), dotenv, json, github (for $GITHUB_ENV),\n" +
			"pgpass (for ~/.pgpass) or netrc (for ~/.netrc). The last two use URLs with a user and a password.",
		Example: "  eval \"$(muster cluster env shop)\"\n" +
			"  muster cluster env shop --format dotenv >.env\n  muster cluster env shop --format github >>\"$GITHUB_ENV\"",
		Args:        cli.Exactly("ID|NAME"),
		Annotations: map[string]string{cli.AnnotationFormats: "shell dotenv github pgpass netrc"},
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, v, err := cluster.ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			list, err := cl.Outputs.Reveal(cmd.Context(), v.ID)
			if err != nil {
				return err
			}
			var kept []output.Output
			for _, o := range list.Outputs {
				switch {
				case o.Type == template.OutputFile:
				case o.Missing != "":
					cli.Line(c.Stderr, "%s has no value yet: %s", o.Name, o.Missing)
				default:
					kept = append(kept, o)
				}
			}
			return writeEnv(c, kept)
		},
	}
}

func writeEnv(c *cli.Context, list []output.Output) error {
	if c.JSON() {
		all := map[string]string{}
		for _, o := range list {
			all[o.Variable] = o.Value
		}
		return c.PrintJSON(all)
	}
	var b strings.Builder
	for _, o := range list {
		switch c.Format {
		case "dotenv":
			b.WriteString(o.Variable + "=" + dotenv(o.Value) + "\n")
		case "github":
			end := "muster_" + rand.Text()
			b.WriteString(o.Variable + "<<" + end + "\n" + o.Value + "\n" + end + "\n")
			if o.Secret {
				for line := range strings.Lines(o.Value) {
					if line = strings.TrimRight(line, "\r\n"); line != "" {
						cli.Line(c.Stderr, "::add-mask::%s", strings.ReplaceAll(line, "%", "%25")) // which GitHub decodes
					}
				}
			}
		case "pgpass":
			b.WriteString(pgpass(o.Value))
		case "netrc":
			b.WriteString(netrc(o.Value))
		default:
			b.WriteString("export " + o.Variable + "='" + strings.ReplaceAll(o.Value, "'", `'\''`) + "'\n")
		}
	}
	if b.Len() == 0 && (c.Format == "pgpass" || c.Format == "netrc") {
		cli.Line(c.Stderr, "No output is a URL with a user and a password that %s can hold.", c.Format)
	}
	_, err := io.WriteString(c.Bytes(), b.String())
	return err
}

// dotenv quotes a value as Docker Compose, Node and Ruby read it: JSON's escapes, and no expansion of $.
func dotenv(value string) string {
	if !strings.ContainsAny(value, "'\n\r") {
		return "'" + value + "'"
	}
	b, err := json.Marshal(value)
	if err != nil {
		return "''"
	}
	return strings.NewReplacer("$", `\$`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(b))
}

// withPassword reads an address with a user and a password.
func withPassword(value string, schemes ...string) (u *url.URL, user, password string) {
	u, err := url.Parse(value)
	if err != nil || u.User == nil || u.Hostname() == "" {
		return nil, "", ""
	}
	password, set := u.User.Password()
	for _, s := range schemes {
		if u.Scheme == s && set && !strings.ContainsAny(u.User.Username()+password+u.Hostname(), "\r\n\x00") {
			return u, u.User.Username(), password
		}
	}
	return nil, "", ""
}

// pgpass is a line of ~/.pgpass for each host of a PostgreSQL URL; "" for any other value.
func pgpass(value string) string {
	hosts, value := postgresHosts(value)
	u, user, password := withPassword(value, "postgres", "postgresql")
	if u == nil {
		return ""
	}
	quote := strings.NewReplacer(`\`, `\\`, ":", `\:`).Replace
	database := strings.TrimPrefix(u.Path, "/")
	if database == "" {
		database = "*"
	}
	if strings.ContainsAny(database+strings.Join(hosts, ""), "\r\n\x00") { // each line is another password
		return ""
	}
	var b strings.Builder
	for _, h := range hosts {
		host, port, err := net.SplitHostPort(h)
		if err != nil {
			host, port = strings.Trim(h, "[]"), "5432"
		}
		b.WriteString(quote(host) + ":" + port + ":" + quote(database) + ":" + quote(user) + ":" + quote(password) + "\n")
	}
	return b.String()
}

// postgresHosts takes the hosts out of a URL, which may have several with commas, and leaves one, since other URLs
// have no more.
func postgresHosts(value string) (hosts []string, one string) {
	scheme, rest, _ := strings.Cut(value, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	at := strings.LastIndex(rest[:end], "@")
	hosts = strings.Split(rest[at+1:end], ",")
	return hosts, scheme + "://" + rest[:at+1] + hosts[0] + rest[end:]
}

// netrc is an entry of ~/.netrc; "" for a value that isn't a web address with a user and a password.
func netrc(value string) string {
	u, user, password := withPassword(value, "http", "https", "ftp")
	if u == nil || user == "" || strings.ContainsAny(user+password, " \t\"\\#") {
		return ""
	}
	return "machine " + u.Hostname() + "\nlogin " + user + "\npassword " + password + "\n"
}
