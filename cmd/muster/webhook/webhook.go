package webhook

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/webhook"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

// testTimeout is how long `muster webhook test` waits for the result.
const testTimeout = 20 * time.Second

func Command(c *cli.Context) *cobra.Command {
	cmd := cli.Family("webhook", "Manage webhooks: send notifications to chats, email or your own programs",
		hookListCommand(c), hookSaveCommand(c), hookDeleteCommand(c), hookTestCommand(c), hookDeliveriesCommand(c), hookResendCommand(c))
	c.ServerFlags(cmd.PersistentFlags())
	return cmd
}

func hookListCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List webhooks", Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			all, err := cl.Webhooks.List(cmd.Context())
			if err != nil {
				return err
			}
			return printHooks(c, all)
		}}
}

func printHooks(c *cli.Context, all []webhook.Endpoint) error {
	if c.JSON() {
		return c.PrintJSON(map[string][]webhook.Endpoint{"webhooks": all})
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(c.Stdout, "No webhooks. Create one: muster webhook save NAME --url https://…")
		return err
	}
	now := time.Now()
	t := cli.NewTable("NAME", "STATE", "FORMAT", "KINDS", "LAST DELIVERY", "FAILED>", "WAITING>", "URL")
	for _, h := range all {
		kinds, last := "all", "-"
		if h.When != "" {
			kinds = operationHookText(h)
		}
		if len(h.Kinds) > 0 {
			kinds = ""
			for i, k := range h.Kinds {
				if i > 0 {
					kinds += ","
				}
				kinds += string(k)
			}
		}
		if h.Last != nil {
			last = answerWords(h.Last.Status) + " " + humanize.Ago(now, h.Last.At)
		}
		if h.Script != "" {
			h.URL, h.Format = "(script)", "-"
		}
		t.Add(h.Name, string(h.State), string(h.Format), kinds, last, strconv.Itoa(h.Failures), strconv.Itoa(h.Waiting), h.URL)
	}
	if err := t.Show(c); err != nil {
		return err
	}
	for _, h := range all {
		if h.Problem != "" {
			fmt.Fprintf(c.Stdout, "%s is stopped: %s\n", h.Name, h.Problem)
		}
	}
	return nil
}

func answerWords(status int) string {
	if status == 0 {
		return "no answer"
	}
	return strconv.Itoa(status)
}

func hookSaveCommand(c *cli.Context) *cobra.Command {
	var (
		address, file, secretFile, format, to string
		kinds                                 []string
		rotate, on, off                       bool
		life                                  operationHookFlags
	)
	cmd := &cobra.Command{Use: "save NAME", Short: "Create or update a webhook",
		Long: "Create a webhook, or update the existing one of that name; settings you omit stay as they are. The secret of a new webhook is printed\n" +
			"only once.\n\n" +
			"A chat's webhook URL is a secret: pass it with --url-file (- for stdin), so that no other process can read it.",
		Example: "  muster webhook save ops-chat --url-file - --as slack --kind alarm --kind budget < url.txt\n  muster webhook save builds --url https://builds.example.com/muster\n" +
			"  muster webhook save cmdb --url https://cmdb.example.com/ask --when before --operation create --operation resize --timeout 2m --on-timeout veto\n" +
			"  muster webhook save warm --when after --operation create --run-file warm.sh --service web",
		Args: cli.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			r := webhook.EndpointRequest{Name: args[0], URL: address, Format: webhook.Format(format), Rotate: rotate}
			if address != "" && file != "" {
				return cli.Usagef("--url and --url-file can't be combined")
			}
			if on && off {
				return cli.Usagef("--on and --off can't be combined")
			}
			if file == "-" && secretFile == "-" {
				return cli.Usagef("only one of --url-file and --secret-file can be stdin")
			}
			if file != "" {
				if r.URL, err = ReadWord(c, file, "url-file"); err != nil {
					return err
				}
			}
			if secretFile != "" {
				if r.Secret, err = ReadWord(c, secretFile, "secret-file"); err != nil {
					return err
				}
			}
			if cmd.Flags().Changed("kind") {
				list := []app.NoticeKind{}
				for _, k := range kinds {
					if k != "all" {
						list = append(list, app.NoticeKind(k))
					}
				}
				r.Kinds = &list
			}
			if cmd.Flags().Changed("to") {
				r.To = &to
			}
			if on || off {
				r.Enabled = &on
			}
			if err := life.fill(c, cmd, &r); err != nil {
				return err
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			s, err := cl.Webhooks.Save(cmd.Context(), r)
			if err != nil {
				return err
			}
			return printSaved(c, s)
		}}
	flags := cmd.Flags()
	flags.StringVar(&address, "url", "", "`URL` to send notifications to")
	flags.StringVar(&file, "url-file", "", "`file` with the URL, or - for stdin")
	flags.StringVar(&format, "as", "", "payload `format`: muster, slack or mail; for operation hooks: muster or coopr")
	flags.StringVar(&to, "to", "", "comma-separated `addresses` for a mail gateway to send to")
	flags.StringSliceVar(&kinds, "kind", nil, "`kind` of notification to send: "+kindNames()+" or all; may be repeated")
	flags.StringVar(&secretFile, "secret-file", "", "`file` with the signing secret, or - for stdin")
	flags.BoolVar(&rotate, "rotate", false, "generate a new secret; the old one stays valid for a day")
	flags.BoolVar(&on, "on", false, "turn the webhook on, even if it was stopped")
	flags.BoolVar(&off, "off", false, "turn the webhook off")
	life.add(flags)
	return cmd
}

func kindNames() string {
	var names []string
	for _, k := range app.NoticeKinds {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

// ReadWord reads a secret from a file or stdin, where other processes can't see it.
func ReadWord(c *cli.Context, file, flag string) (string, error) {
	var b []byte
	var err error
	if file == "-" {
		b, err = io.ReadAll(io.LimitReader(c.Stdin, 4096))
	} else {
		b, err = cli.ReadLimited(file, 4096)
	}
	text := strings.TrimSpace(string(b))
	var path *os.PathError
	switch {
	case errors.As(err, &path):
		return "", &app.Error{Code: app.EInvalid, Field: flag, Message: "can't read --" + flag + ": " + path.Error()}
	case err != nil:
		return "", err
	case text == "":
		return "", cli.Usagef("--%s is empty", flag)
	}
	return text, nil
}

func printSaved(c *cli.Context, s webhook.SavedEndpoint) error {
	if c.JSON() {
		return c.PrintJSON(s)
	}
	word := "updated"
	if s.Created {
		word = "created"
	}
	what := s.URL
	if s.Script != "" {
		what = "a script"
	}
	if s.When != "" {
		what = operationHookText(s.Endpoint) + ", " + what
	}
	fmt.Fprintf(c.Stdout, "Webhook %s %s: %s, %s\n", s.Name, word, s.State, what)
	if s.Secret != "" {
		fmt.Fprintf(c.Stdout, "Secret: %s  (shown only once; docs/notifications.md explains how to verify signatures)\n", s.Secret)
	}
	return nil
}

func hookDeleteCommand(c *cli.Context) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{Use: "delete NAME", Short: "Delete a webhook and its delivery history", Args: cli.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes && !cli.IsTerminal(c.Stdin) {
				return cli.Usagef("--yes is required without a terminal to confirm on")
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			if !yes {
				if err := c.Confirm(cmd.Context(), "Delete webhook "+args[0]+"?", "webhook "+args[0]+" was not deleted"); err != nil {
					return err
				}
			}
			if err := cl.Webhooks.Delete(cmd.Context(), args[0]); err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(map[string]string{"deleted": args[0]})
			}
			_, err = fmt.Fprintf(c.Stdout, "Deleted webhook %s.\n", args[0])
			return err
		}}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "skip the confirmation prompt")
	return cmd
}

func hookTestCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "test NAME", Short: "Send a test notification and show the result", Args: cli.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			d, err := cl.Webhooks.Test(cmd.Context(), args[0])
			for end := time.Now().Add(testTimeout); err == nil && d.State == webhook.DeliveryWaiting && time.Now().Before(end); {
				select {
				case <-cmd.Context().Done():
					return cmd.Context().Err()
				case <-time.After(250 * time.Millisecond):
				}
				d, err = cl.Webhooks.Delivery(cmd.Context(), args[0], d.ID)
			}
			if err != nil {
				return err
			}
			return tested(c, args[0], d)
		}}
}

// tested prints the result of a test; a failed one is an error.
func tested(c *cli.Context, hook string, d webhook.Delivery) error {
	if c.JSON() {
		if err := c.PrintJSON(d); err != nil {
			return err
		}
	}
	switch d.State {
	case webhook.DeliveryFailed:
		return &app.Error{Code: app.EInvalid, Message: "the test notification failed: " + d.Error}
	case webhook.DeliveryWaiting:
		return &app.Error{Code: app.ETimeout, Message: "the test notification wasn't sent yet", Hint: "Check again in a moment: muster webhook deliveries " + hook}
	}
	if c.JSON() {
		return nil
	}
	_, err := fmt.Fprintf(c.Stdout, "Test notification delivered: status %d in %d ms.\n", d.Status, d.Duration.Milliseconds())
	return err
}

func hookDeliveriesCommand(c *cli.Context) *cobra.Command {
	var before int64
	var limit int
	cmd := &cobra.Command{Use: "deliveries NAME [NUMBER]", Short: "List deliveries of a webhook, or show one with all responses",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 || limit > 200 {
				return cli.Usagef("--limit must be from 1 to 200, not %d", limit)
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			if len(args) == 2 {
				id, err := DeliveryNumber(args[1])
				if err != nil {
					return err
				}
				d, err := cl.Webhooks.Delivery(cmd.Context(), args[0], id)
				if err != nil {
					return err
				}
				return printDelivery(c, d)
			}
			list, next, err := cl.Webhooks.Deliveries(cmd.Context(), args[0], before, limit)
			if err != nil {
				return err
			}
			return printDeliveries(c, list, next)
		}}
	cmd.Flags().Int64Var(&before, "before", 0, "only deliveries before this `number`")
	cmd.Flags().IntVar(&limit, "limit", 50, "maximum `number` of deliveries")
	return cmd
}

func DeliveryNumber(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, cli.Usagef("%q isn't a delivery number", text)
	}
	return id, nil
}

func printDeliveries(c *cli.Context, list []webhook.Delivery, next int64) error {
	if c.JSON() {
		return c.PrintJSON(map[string]any{"deliveries": list, "next": next})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(c.Stdout, "No deliveries.")
		return err
	}
	now := time.Now()
	t := cli.NewTable("NUMBER>", "KIND", "STATE", "ATTEMPTS>", "RESPONSE", "AGE>", "TITLE")
	for _, d := range list {
		answer := "-"
		if d.Attempts > 0 {
			answer = answerWords(d.Status)
		}
		if d.Vetoed {
			answer += ", no"
		}
		t.Add(strconv.FormatInt(d.ID, 10), string(d.Kind), string(d.State), strconv.Itoa(d.Attempts), answer, humanize.Duration(now.Sub(d.QueuedAt)), d.Title)
	}
	if err := t.Show(c); err != nil || next == 0 {
		return err
	}
	_, err := fmt.Fprintf(c.Stderr, "Older deliveries: --before %d\n", next)
	return err
}

func printDelivery(c *cli.Context, d webhook.Delivery) error {
	if c.JSON() {
		return c.PrintJSON(d)
	}
	fmt.Fprintf(c.Stdout, "%s (%s), %s after %s\nMessage: %s\n", d.Title, d.Kind, d.State, tryWords(d.Attempts), d.MessageID)
	for _, a := range d.Log {
		fmt.Fprintf(c.Stdout, "\n%d  %s  %s  %d ms\n", a.Attempt, a.At.Format(time.RFC3339), answerWords(a.Status), a.Duration.Milliseconds())
		for _, text := range []string{a.Error, a.Response} {
			if text != "" {
				fmt.Fprintln(c.Stdout, "   "+strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n   "))
			}
		}
	}
	if d.Request != "" {
		fmt.Fprintf(c.Stdout, "\nSent:\n%s\n", d.Request)
	}
	return nil
}

func hookResendCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "resend NAME NUMBER", Short: "Resend a delivery with the same message ID", Args: cli.Exactly("NAME", "NUMBER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := DeliveryNumber(args[1])
			if err != nil {
				return err
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			d, err := cl.Webhooks.Resend(cmd.Context(), args[0], id)
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(d)
			}
			_, err = fmt.Fprintf(c.Stdout, "Resending delivery %d. Check the result: muster webhook deliveries %s %d\n", d.ID, args[0], d.ID)
			return err
		}}
}

func tryWords(n int) string {
	if n == 1 {
		return "1 try"
	}
	return strconv.Itoa(n) + " tries"
}
