package identity

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"muster/app"
	"muster/app/identity"
	"muster/cmd/muster/cli"
)

// auditFlags choose entries.
type auditFlags struct{ tenant, who, act, object, from, to string }

func (f *auditFlags) declare(flags *pflag.FlagSet) {
	flags.StringVar(&f.who, "who", "", "entries of one `user`")
	flags.StringVar(&f.act, "act", "", "entries whose act `begins` so, as in cluster.")
	flags.StringVar(&f.object, "object", "", "entries about one `object`")
	flags.StringVar(&f.from, "from", "", "not before this `day` or time")
	flags.StringVar(&f.to, "to", "", "before this `day` or time")
	flags.StringVar(&f.tenant, "of", "", "of this `tenant`, * for all (superadmins)")
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
	return cli.Family("audit", "Tell who did what, and prove that nothing of it was changed", auditListCommand(c), auditExportCommand(c), auditVerifyCommand(c))
}

func auditListCommand(c *cli.Context) *cobra.Command {
	var f auditFlags
	var limit int
	cmd := &cobra.Command{
		Use: "list", Short: "List entries of the audit, the newest first", Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			q := f.query()
			q.Set("limit", strconv.Itoa(limit))
			var out struct {
				Entries []app.Deed `json:"entries"`
				More    bool       `json:"more"`
			}
			if err := cl.CallInto(cmd.Context(), "/audit", q, &out); err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(out)
			}
			t := cli.NewTable("NUMBER>", "WHEN", "WHO", "ACT", "OBJECT", "FROM")
			for _, d := range out.Entries {
				t.Add(fmt.Sprint(d.Number), d.At.UTC().Format(time.DateTime), d.Who, d.Act, d.Object, strings.TrimSpace(string(d.Via)+" "+d.From))
			}
			return t.Show(c)
		},
	}
	f.declare(cmd.Flags())
	cmd.Flags().IntVar(&limit, "limit", 100, "at most so many `entries`, 500 at most")
	c.ServerFlags(cmd.Flags())
	return cmd
}

func auditExportCommand(c *cli.Context) *cobra.Command {
	var f auditFlags
	var form string
	cmd := &cobra.Command{
		Use: "export", Short: "Write the audit to standard output, the oldest entry first", Args: cli.AtMost(0),
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
	cmd.Flags().StringVar(&form, "as", "jsonl", "jsonl or csv")
	c.ServerFlags(cmd.Flags())
	return cmd
}

// auditVerifyCommand also compares a chain with what an earlier call has printed, which finds a chain that was made again as a
// whole, by someone who has the secret key too.
func auditVerifyCommand(c *cli.Context) *cobra.Command {
	var tenant, expect string
	cmd := &cobra.Command{
		Use: "verify", Short: "Walk the chain of the audit; exit 1 where an entry is missing or not what it was", Args: cli.AtMost(0),
		Example: "  muster audit verify --expect 1204:9f86d081884c7d65…",
		RunE: func(cmd *cobra.Command, _ []string) error {
			number, hash, kept := strings.Cut(expect, ":")
			n, err := strconv.ParseInt(number, 10, 64)
			if expect != "" && (!kept || err != nil || n < 1) {
				return cli.Usagef("--expect is NUMBER:HASH as `muster audit verify` prints it, not %q", expect)
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
	cmd.Flags().StringVar(&tenant, "of", "", "of this `tenant`, * for all (superadmins)")
	cmd.Flags().StringVar(&expect, "expect", "", "`NUMBER:HASH` that was printed before and kept elsewhere")
	c.ServerFlags(cmd.Flags())
	return cmd
}

func printProofs(c *cli.Context, all []identity.AuditProof) error {
	whole := true
	for _, p := range all {
		whole = whole && p.Whole
	}
	if c.JSON() {
		if err := c.PrintJSON(map[string][]identity.AuditProof{"chains": all}); err != nil {
			return err
		}
	} else {
		for _, p := range all {
			if p.Whole {
				fmt.Fprintf(c.Stdout, "%s: whole to the end, %d:%s\n", p.Tenant, p.Entries, p.Hash)
			} else {
				fmt.Fprintf(c.Stdout, "%s: broken at entry %d. %s\n", p.Tenant, p.Broken, p.Why)
			}
		}
	}
	if !whole {
		return &app.Error{Code: app.EConflict, Reason: "broken", Message: "the audit is not what was written"}
	}
	return nil
}
