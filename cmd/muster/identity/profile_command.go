package identity

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"muster/app"
	"muster/cmd/muster/cli"
	rest "muster/portal/client"
)

func ProfileCommand(c *cli.Context) *cobra.Command {
	cmd := cli.Family("profile", "Manage profiles of servers", profileListCommand(c), profileShowCommand(c), profileUseCommand(c),
		profileAddCommand(c), profileRemoveCommand(c))
	cmd.Long = "Manage profiles: named servers with their tokens. They are stored in config.yaml in $MUSTER_HOME, or in muster in your configuration\n" +
		"directory, readable only by you. Flags override environment variables, which override the current profile; --profile NAME\n" +
		"overrides environment variables, too. To create a profile, use `muster login`."
	return cmd
}

// profileJSON is a profile without its token.
type profileJSON struct {
	Name    string `json:"name"`
	Current bool   `json:"current"`
	Server  string `json:"server"`
	Token   bool   `json:"token"` // whether a token is saved
	CA      string `json:"ca_fingerprint,omitempty"`
	Tenant  string `json:"tenant,omitempty"`
}

func profileSaid(all *cli.Profiles, name string) profileJSON {
	p := all.Profiles[name]
	return profileJSON{Name: name, Current: name == all.Current, Server: p.Server, Token: p.Token != "", CA: p.CA, Tenant: p.Tenant}
}

func profileListCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List profiles; a star marks the current one", Args: cli.AtMost(0),
		RunE: func(*cobra.Command, []string) error {
			all, _, err := cli.ReadProfiles()
			if err != nil {
				return err
			}
			list := []profileJSON{}
			for _, name := range slices.Sorted(maps.Keys(all.Profiles)) {
				list = append(list, profileSaid(&all, name))
			}
			if c.JSON() {
				return c.PrintJSON(map[string][]profileJSON{"profiles": list})
			}
			t := cli.NewTable(" ", "NAME", "SERVER", "TENANT", "TOKEN")
			for _, p := range list {
				t.Add(map[bool]string{true: "*"}[p.Current], p.Name, p.Server, cmp.Or(p.Tenant, "-"), map[bool]string{true: "saved", false: "-"}[p.Token])
			}
			return t.Show(c)
		},
	}
}

func profileShowCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use: "show [NAME]", Short: "Show a profile (default: the current one)", Args: cli.AtMost(1), ValidArgsFunction: completeProfiles,
		RunE: func(_ *cobra.Command, args []string) error {
			all, path, err := cli.ReadProfiles()
			if err != nil {
				return err
			}
			name := all.Current
			if len(args) > 0 {
				name = args[0]
			}
			if name == "" {
				return &app.Error{Code: app.ENotFound, Message: "there's no current profile", Hint: "Create one: muster login SERVER"}
			}
			if _, err := all.Get(name); err != nil {
				return err
			}
			p := profileSaid(&all, name)
			if c.JSON() {
				return c.PrintJSON(p)
			}
			fmt.Fprintf(c.Stdout, "Profile  %s\nServer   %s\nToken    %s\n", p.Name, p.Server, map[bool]string{true: "saved", false: "none; sign in with muster login"}[p.Token])
			if p.CA != "" {
				fmt.Fprintf(c.Stdout, "CA       %s\n", p.CA)
			}
			if p.Tenant != "" {
				fmt.Fprintf(c.Stdout, "Tenant   %s\n", p.Tenant)
			}
			_, err = fmt.Fprintf(c.Stdout, "File     %s\n", path)
			return err
		},
	}
}

func profileUseCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use: "use NAME", Short: "Switch to a profile", Args: cli.Exactly("NAME"), ValidArgsFunction: completeProfiles,
		RunE: func(_ *cobra.Command, args []string) error {
			err := cli.ChangeProfiles(func(all *cli.Profiles) error {
				_, err := all.Get(args[0])
				all.Current = args[0]
				return err
			})
			if err != nil {
				return err
			}
			return c.Say(map[string]string{"current": args[0]}, "Switched to profile %s.", args[0])
		},
	}
}

func profileAddCommand(c *cli.Context) *cobra.Command {
	var p cli.Profile
	var file string
	cmd := &cobra.Command{
		Use: "add NAME --server URL", Short: "Create or replace a profile",
		Long: "Create or replace a profile. The token is read from --token-file (- for stdin), not from the command line, which every process on the\n" +
			"host can read.",
		Example: "  muster profile add prod --server https://muster.example.com --token-file token.txt",
		Args:    cli.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.Need(cmd, "server"); err != nil {
				return err
			}
			if _, err := rest.New(rest.Settings{URL: p.Server, CA: p.CA}); err != nil {
				return err
			}
			if file != "" {
				var err error
				if p.Token, err = readToken(c, file); err != nil {
					return err
				}
			}
			if err := cli.ChangeProfiles(func(all *cli.Profiles) error { return all.Set(args[0], p) }); err != nil {
				return err
			}
			return c.Say(map[string]string{"name": args[0]}, "Saved profile %s.", args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&p.Server, "server", "", "`URL` of the server")
	flags.StringVar(&file, "token-file", "", "`file` with the token, or - for stdin")
	flags.StringVar(&p.CA, "ca-fingerprint", "", "CA `fingerprint` (sha256:…) of a server with --tls self")
	flags.StringVar(&p.Tenant, "tenant", "", "`tenant` to act in (superadmins only)")
	return cmd
}

func profileRemoveCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Aliases: []string{"rm"}, Short: "Remove a profile without revoking its token (see muster logout)", Args: cli.Exactly("NAME"),
		ValidArgsFunction: completeProfiles,
		RunE: func(_ *cobra.Command, args []string) error {
			err := cli.ChangeProfiles(func(all *cli.Profiles) error {
				if _, err := all.Get(args[0]); err != nil {
					return err
				}
				delete(all.Profiles, args[0])
				if all.Current == args[0] {
					all.Current = ""
				}
				return nil
			})
			if err != nil {
				return err
			}
			return c.Say(map[string]string{"removed": args[0]}, "Removed profile %s.", args[0])
		},
	}
}

// tokenLimit is a token's maximum length in bytes.
const tokenLimit = 4 << 10

// readToken reads a token from a file, or from stdin for -.
func readToken(c *cli.Context, file string) (string, error) {
	var b []byte
	var err error
	if file == "-" {
		b, err = io.ReadAll(io.LimitReader(c.Stdin, tokenLimit+1))
	} else {
		b, err = cli.ReadLimited(file, tokenLimit+1)
	}
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(b))
	if token == "" || len(b) > tokenLimit || strings.ContainsAny(token, " \t\r\n\x00") {
		return "", cli.Usagef("the input isn't a token").Hint("A token is a single word. Create one with `muster token create` or on the portal's Account page.")
	}
	return token, nil
}

// completeProfiles completes profile names.
func completeProfiles(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	all, _, err := cli.ReadProfiles()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(all.Profiles)) {
		names = append(names, name+"\t"+all.Profiles[name].Server)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
