package identity

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/identity"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// auditFlags filter entries.
type auditFlags struct{ tenant, who, act, object, from, to string }

func (f *auditFlags) declare(flags *pflag.FlagSet) {
	flags.StringVar(&f.who, "who", "", "filter by `user`")
	flags.StringVar(&f.act, "act", "", "filter by `prefix` of the action, such as cluster.")
	flags.StringVar(&f.object, "object", "", "filter by `object`")
	flags.StringVar(&f.from, "from", "", "only entries at or after this `date` or time")
	flags.StringVar(&f.to, "to", "", "only entries before this `date` or time")
	flags.StringVar(&f.tenant, "of", "", "filter by `tenant`, * for all (superadmins)")
}

func (f *auditFlags) query() url.Values {
	q := url.Values{}
	for k, v := range map[string]string{"tenant": f.tenant, "who": f.who, "act": f.act, "object": f.object, "from": f.from, "to": f.to} {
		if v != "" {
			q.Set(k, v)
		}
	}
	return q
}

func AuditCommand(c *cli.Context) *cobra.Command {
	return cli.Family("audit", "List, export and verify the audit log", auditListCommand(c), auditExportCommand(c), auditVerifyCommand(c))
}

func auditListCommand(c *cli.Context) *cobra.Command {
	var f auditFlags
	var limit int
	cmd := &cobra.Command{
		Use: "list", Short: "List audit log entries, newest first", Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			q := f.query()
			q.Set("limit", strconv.Itoa(limit))
			var out struct {
				Entries []app.AuditEntry `json:"entries"`
				More    bool             `json:"more"`
			}
			if err := cl.CallInto(cmd.Context(), "/audit", q, &out); err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(out)
			}
			t := cli.NewTable("NUMBER>", "TIME", "USER", "ACTION", "OBJECT", "FROM")
			for _, d := range out.Entries {
				t.Add(fmt.Sprint(d.Number), cli.Time(d.At), d.Who, d.Act, d.Object, strings.TrimSpace(string(d.Via)+" "+d.From))
			}
			return t.Show(c)
		},
	}
	f.declare(cmd.Flags())
	cmd.Flags().IntVar(&limit, "limit", 100, "maximum number of `entries`, up to 500")
	c.ServerFlags(cmd.Flags())
	return cmd
}

func auditExportCommand(c *cli.Context) *cobra.Command {
	var f auditFlags
	var form string
	cmd := &cobra.Command{
		Use: "export", Short: "Export the audit log to stdout, oldest entry first", Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			q := f.query()
			q.Set("format", form)
			return cl.Download(cmd.Context(), "/audit/export", q, c.Bytes())
		},
	}
	f.declare(cmd.Flags())
	cmd.Flags().StringVar(&form, "as", "jsonl", "`format`: jsonl or csv")
	c.ServerFlags(cmd.Flags())
	return cmd
}

// auditVerifyCommand can also compare a chain with an earlier output, which detects a chain rebuilt as a whole by someone who has the
// secret key too.
func auditVerifyCommand(c *cli.Context) *cobra.Command {
	var tenant, expect string
	cmd := &cobra.Command{
		Use: "verify", Short: "Verify the audit log's hash chain", Args: cli.AtMost(0),
		Long:    "Verify the hash chain of the audit log. The exit code is 1 if an entry is missing or was modified.",
		Example: "  muster audit verify --expect 1204:9f86d081884c7d65…",
		RunE: func(cmd *cobra.Command, _ []string) error {
			number, hash, kept := strings.Cut(expect, ":")
			n, err := strconv.ParseInt(number, 10, 64)
			if expect != "" && (!kept || err != nil || n < 1) {
				return cli.Usagef("--expect must be NUMBER:HASH as printed by `muster audit verify`, not %q", expect)
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			var out struct {
				Chains []identity.AuditProof `json:"chains"`
			}
			if err := cl.CallInto(cmd.Context(), "/audit/verify", url.Values{"tenant": {tenant}}, &out); err != nil {
				return err
			}
			if expect != "" {
				for i := range out.Chains {
					if err := cl.Audit.Expect(cmd.Context(), &out.Chains[i], n, hash); err != nil {
						return err
					}
				}
			}
			return printProofs(c, out.Chains)
		},
	}
	cmd.Flags().StringVar(&tenant, "of", "", "filter by `tenant`, * for all (superadmins)")
	cmd.Flags().StringVar(&expect, "expect", "", "also check for `NUMBER:HASH`, as printed by an earlier run")
	c.ServerFlags(cmd.Flags())
	return cmd
}

func printProofs(c *cli.Context, all []identity.AuditProof) error {
	whole := true
	for _, p := range all {
		whole = whole && p.Intact
	}
	if c.JSON() {
		if err := c.PrintJSON(map[string][]identity.AuditProof{"chains": all}); err != nil {
			return err
		}
	} else {
		for _, p := range all {
			if p.Intact {
				fmt.Fprintf(c.Stdout, "%s: intact, %d:%s\n", p.Tenant, p.Entries, p.Hash)
			} else {
				fmt.Fprintf(c.Stdout, "%s: broken at entry %d. %s\n", p.Tenant, p.FirstInvalid, p.Reason)
			}
		}
	}
	if !whole {
		return &app.Error{Code: app.EConflict, Reason: "broken", Message: "the audit log was modified"}
	}
	return nil
}
