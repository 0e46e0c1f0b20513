package identity

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/identity"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func TokenCommand(c *cli.Context) *cobra.Command {
	return cli.Family("token", "Manage API tokens", tokenListCommand(c), tokenCreateCommand(c), tokenRevokeCommand(c))
}

func tokenListCommand(c *cli.Context) *cobra.Command {
	var user string
	cmd := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List your API tokens (admins: the tenant's)", Args: cli.AtMost(0)}
	cmd.Flags().StringVar(&user, "user", "", "filter by `user`")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, _ []string) error {
		all, err := cl.Tokens.List(ctx, user)
		if err != nil {
			return err
		}
		if c.JSON() {
			return c.PrintJSON(map[string][]identity.Token{"tokens": all})
		}
		t := cli.NewTable("ID>", "USER", "LABEL", "SCOPES", "EXPIRES", "LAST USED", "FROM")
		for _, k := range all {
			t.Add(strconv.FormatInt(k.ID, 10), k.User, k.Label, scopesText(k), tokenEnds(k), cli.Since(k.UsedAt), cmp.Or(k.UsedFrom, "-"))
		}
		return t.Show(c)
	})
}

func scopesText(k identity.Token) string {
	if len(k.Scopes) == 0 {
		return "all"
	}
	var words []string
	for _, s := range k.Scopes {
		words = append(words, string(s))
	}
	return strings.Join(words, " ")
}

func tokenEnds(k identity.Token) string {
	switch now := time.Now(); {
	case k.ExpiresAt.IsZero():
		return "never"
	case k.Expired(now):
		return "expired"
	default:
		return "in " + humanize.Duration(k.ExpiresAt.Sub(now))
	}
}

func tokenCreateCommand(c *cli.Context) *cobra.Command {
	var n identity.NewAPIToken
	var scopes []string
	cmd := &cobra.Command{
		Use:   "create LABEL",
		Short: "Create an API token",
		Long: "Create an API token for yourself or, as an admin, for a robot account. It's shown only once. Every token can read; scopes add\n" +
			"permissions: cluster, approve, admin. A token can't create other tokens. There are two exceptions: the token\n" +
			"that a server keeps for clients on its own host, and tokens with scope admin, which can create tokens for robot accounts.\n" +
			"Tokens with scope approve or admin can only be created in the portal.",
		Example: "  muster token create nightly-build --user ci --scope cluster --days 365",
		Args:    cli.Exactly("LABEL"),
	}
	flags := cmd.Flags()
	flags.StringVar(&n.User, "user", "", "robot `account` to create the token for")
	flags.StringSliceVar(&scopes, "scope", nil, "`scope` besides read: cluster, approve or admin; may be repeated")
	flags.IntVar(&n.Days, "days", 0, fmt.Sprintf("`days` until the token expires, at most %d (default %d)", identity.MostDays, identity.TokenDays))
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		n.Label = args[0]
		for _, s := range scopes {
			n.Scopes = append(n.Scopes, app.Scope(s))
		}
		m, err := cl.Tokens.Create(ctx, n)
		if err != nil {
			return err
		}
		return c.Say(m, "%s", m.Secret)
	})
}

func tokenRevokeCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{Use: "revoke ID", Short: "Revoke an API token", Args: cli.Exactly("ID")}
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		id, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil || id < 1 {
			return cli.Usagef("%q isn't a token number", args[0]).Hint("List your tokens: muster token list")
		}
		if err := cl.Tokens.Revoke(ctx, id); err != nil {
			return err
		}
		return c.Say(map[string]int64{"revoked": id}, "Revoked token %d.", id)
	})
}
