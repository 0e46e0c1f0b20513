package identity

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/app"
	"muster/cmd/muster/cli"
	rest "muster/portal/client"
)

func LoginCommand(c *cli.Context) *cobra.Command {
	var p cli.Profile
	var name, file string
	var typed bool
	var scopes []string
	cmd := &cobra.Command{
		Use:   "login [SERVER]",
		Short: "Sign in to a server and save it as a profile",
		Long: "Sign in to a server and save it as a profile. The command shows an address and a code, which you confirm in a browser on any device. It\n" +
			"then gets an API token that expires after 90 days; your Account page lists it. With --token or --token-file, an existing token is saved\n" +
			"instead. SERVER defaults to the profile's server.",
		Example: "  muster login https://muster.example.com\n  muster login https://muster.example.com --token-file token.txt --profile prod",
		Args:    cli.AtMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, _, err := cli.ReadProfiles()
			if err != nil {
				return err
			}
			if name == "" {
				name = cmp.Or(os.Getenv("MUSTER_PROFILE"), all.Current, "default")
				if len(args) > 0 {
					name = nameFor(&all, args[0])
				}
			}
			old := cli.Profile{}
			if all.Profiles[name] != nil {
				old = *all.Profiles[name]
			}
			p.Server = old.Server
			if len(args) > 0 {
				p.Server = strings.TrimSuffix(args[0], "/")
			}
			if p.Server == "" {
				return cli.Usagef("SERVER is required").Hint("For example: muster login https://muster.example.com")
			}
			if old.Server == p.Server {
				p.CA, p.Tenant = cmp.Or(p.CA, old.CA), cmp.Or(p.Tenant, old.Tenant)
			}
			if err := (&cli.Profiles{}).Set(name, p); err != nil {
				return err
			}
			var wanted []app.Scope
			for _, s := range scopes {
				wanted = append(wanted, app.Scope(s))
			}
			return login(cmd.Context(), c, name, p, old, file, typed, wanted)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&name, "profile", "", "`name` of the profile (default: the server's host name, or the current profile)")
	flags.BoolVar(&typed, "token", false, "read an existing token from stdin")
	flags.StringVar(&file, "token-file", "", "`file` with an existing token, or - for stdin")
	flags.StringVar(&p.CA, "ca-fingerprint", "", "CA `fingerprint` (sha256:…) of a server with --tls self")
	flags.StringVar(&p.Tenant, "tenant", "", "`tenant` to act in (superadmins only)")
	flags.StringSliceVar(&scopes, "scope", nil, "`scope` to request besides read: cluster, approve or admin; may be repeated (default cluster)")
	cmd.MarkFlagsMutuallyExclusive("token", "token-file")
	return cmd
}

// nameFor returns the name of a server's profile, or a new one from its host name.
func nameFor(all *cli.Profiles, server string) string {
	server = strings.TrimSuffix(server, "/")
	if p := all.Profiles[all.Current]; p != nil && p.Server == server {
		return all.Current
	}
	for name, p := range all.Profiles {
		if p.Server == server {
			return name
		}
	}
	u, err := url.Parse(server)
	if err != nil || !cli.ProfileName.MatchString(strings.ToLower(u.Hostname())) {
		return "default"
	}
	name := strings.ToLower(u.Hostname())
	if all.Profiles[name] != nil { // same host, another port
		name += "-" + cmp.Or(u.Port(), u.Scheme)
	}
	return name
}

func login(ctx context.Context, c *cli.Context, name string, p, old cli.Profile, file string, typed bool, wanted []app.Scope) error {
	cl, err := cli.NewClient(rest.Settings{URL: p.Server, CA: p.CA})
	if err != nil {
		return err
	}
	switch {
	case typed || file != "":
		if typed && cli.IsTerminal(c.Stdin) {
			fmt.Fprintln(c.Stderr, "Paste the token, then press Enter and Ctrl-D. Your input is visible; use --token-file to avoid that.")
		}
		p.Token, err = readToken(c, cmp.Or(file, "-"))
	default:
		p.Token, err = byDevice(ctx, c, cl, p.Server, wanted)
	}
	if err != nil {
		return err
	}
	in, err := cli.NewClient(rest.Settings{URL: p.Server, CA: p.CA, Token: p.Token})
	if err != nil {
		return err
	}
	if _, err := in.Templates.List(ctx); err != nil { // readable with every token
		return err
	}
	err = cli.ChangeProfiles(func(all *cli.Profiles) error {
		all.Current = name
		return all.Set(name, p)
	})
	if err != nil {
		return err
	}
	if old.Token != "" && old.Token != p.Token && old.Server == p.Server && file == "" && !typed {
		// The replaced token would stay valid unnoticed. If it can't be revoked, signing in still works.
		if before, err := cli.NewClient(rest.Settings{URL: old.Server, CA: old.CA, Token: old.Token}); err == nil {
			_, _ = before.Tokens.End(ctx)
		}
	}
	return c.Say(map[string]string{"profile": name, "server": p.Server}, "Signed in to %s. Current profile: %s.", p.Server, name)
}

// byDevice has the user confirm in a browser, and returns the token.
func byDevice(ctx context.Context, c *cli.Context, cl *rest.Client, server string, wanted []app.Scope) (string, error) {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	codes, err := cl.Devices.Start(ctx, host[:min(len(host), 64)], wanted)
	if err != nil {
		return "", err
	}
	address := server + codes.Path
	fmt.Fprintf(c.Stderr, "Open this address in a browser on any device:  %s?code=%s\nCheck that it shows this code:                 %s\n", address, url.QueryEscape(codes.UserCode), codes.UserCode)
	ctx, cancel := context.WithTimeout(ctx, time.Duration(codes.ExpiresIn)*time.Second)
	defer cancel()
	over := &app.Error{Code: app.ETimeout, Reason: "expired_token", Message: "the code has expired", Hint: "Start again: muster login " + server}
	pause := time.Duration(max(codes.Interval, 1)) * time.Second
	retrier := &cli.Retrier{Client: &cli.Client{Client: cl}, Limit: c.RetryTime, Note: func(text string) { fmt.Fprintln(c.Stderr, text) }}
	for {
		select {
		case <-ctx.Done():
			if ctx.Err() == context.DeadlineExceeded {
				return "", over
			}
			return "", ctx.Err()
		case <-time.After(loginPace(c, pause)):
		}
		var m rest.MadeToken
		var said error
		err := retrier.Try(ctx, func(ctx context.Context) error {
			m, said = cl.Devices.Poll(ctx, codes.DeviceCode)
			if said != nil && app.AsError(said).Reason == "slow_down" {
				return nil
			}
			return said
		})
		if said == nil && err == nil {
			return m.Secret, nil
		}
		switch app.AsError(said).Reason {
		case "authorization_pending":
		case "slow_down":
			pause += 5 * time.Second // RFC 8628
		case "access_denied":
			return "", &app.Error{Code: app.EForbidden, Reason: "access_denied", Message: "the sign-in was refused in the browser"}
		case "expired_token":
			return "", over
		default:
			return "", firstError(err, said)
		}
	}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// loginPace is the pause between polls for the confirmation; tests don't pause.
func loginPace(c *cli.Context, d time.Duration) time.Duration {
	if c.NoPause {
		return time.Millisecond
	}
	return d
}

func LogoutCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{
		Use: "logout", Short: "Sign out: revoke the token of a profile and delete it here", Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			name, p, err := c.Profile()
			if err != nil {
				return err
			}
			if p.Token == "" {
				return &app.Error{Code: app.ENotFound, Message: "you're not signed in", Hint: "List your profiles: muster profile list"}
			}
			cl, err := cli.NewClient(rest.Settings{URL: p.Server, CA: p.CA, Token: p.Token})
			if err != nil {
				return err
			}
			// A token that the server rejects is as good as revoked.
			if _, err := cl.Tokens.End(cmd.Context()); err != nil && app.CodeOf(err) != app.EUnauthorized {
				return err
			}
			err = cli.ChangeProfiles(func(all *cli.Profiles) error {
				p.Token = ""
				return all.Set(name, p)
			})
			if err != nil {
				return err
			}
			return c.Say(map[string]string{"profile": name}, "Signed out of %s. The token is revoked.", p.Server)
		},
	}
	cmd.Flags().StringVar(&c.ProfileName, "profile", "", "`name` of the profile (default $MUSTER_PROFILE, or the current profile)")
	return cmd
}
