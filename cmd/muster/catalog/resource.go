package catalog

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/resource"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func ResourceCommand(c *cli.Context) *cobra.Command {
	cmd := cli.Family("resource", "Manage archives and files that automators copy to nodes",
		resourcePushCommand(c), resourceListCommand(c), resourceShowCommand(c), resourceMarkCommand(c, "stage", "Stage a version for the next sync"),
		resourceMarkCommand(c, "recall", "Recall a version at the next sync"), resourceSyncCommand(c), resourcePullCommand(c),
		resourceDiffCommand(c), resourceDeleteCommand(c), resourceTypesCommand(c))
	cmd.Long = "Manage archives and files that admins push for an automator, in numbered versions. A service action names the resources it needs, and\n" +
		"nodes get the version in use when their plan was created. See docs/resources.md."
	return cmd
}

// resourceArg reads shell/archive/site or, if a version is allowed, shell/archive/site@3.
func resourceArg(s string, versioned bool) (resource.ID, int64, error) {
	name, version, numbered := strings.Cut(s, "@")
	number := int64(0)
	if numbered {
		n, err := strconv.ParseInt(version, 10, 64)
		if err != nil || n < 1 || !versioned {
			return resource.ID{}, 0, cli.Usagef("%q isn't a valid resource name", s).Hint("Use AUTOMATOR/TYPE/NAME, with @VERSION if needed: shell/archive/site@3.")
		}
		number = n
	}
	id, err := resource.ParseResourceID(name)
	return id, number, err
}

func resourcePushCommand(c *cli.Context) *cobra.Command {
	var p resource.Push
	cmd := &cobra.Command{
		Use: "push RESOURCE [FILE]", Short: "Push a new version of a resource",
		Long: "Push a new version of a resource from a file (- for stdin) or from Git. The first push creates the resource. The version isn't used\n" +
			"until you stage and sync it.",
		Example: "  muster resource push shell/archive/site site.tar.gz --note 'new logo' --stage\n" +
			"  muster resource push shell/archive/site --git https://git.example.com/team/site.git --ref v1.2.0",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if p.ID, _, err = resourceArg(args[0], false); err != nil {
				return err
			}
			api, err := c.Connect()
			if err != nil {
				return err
			}
			var v resource.Version
			switch {
			case p.Source.Git != "" && len(args) == 2, p.Source.Git == "" && len(args) == 1:
				return cli.Usagef("either FILE or --git is required")
			case p.Source.Git != "":
				if p.Source.Ref == "" {
					return cli.Usagef("--git requires --ref").Hint("Name a tag, a branch or a commit.")
				}
				v, err = api.Resources.Import(cmd.Context(), p)
			default:
				v, err = pushFile(c, cmd, api, p, args[1])
			}
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(v)
			}
			fmt.Fprintf(c.Stdout, "%s@%d  %s  %s  sha256 %s\n", p.ID, v.Number, v.State, humanize.Bytes(v.Size), v.Hash)
			switch v.State {
			case resource.StateStaged:
				fmt.Fprintln(c.Stdout, "To use this version, run `muster resource sync`.")
			case resource.StateInactive:
				fmt.Fprintf(c.Stdout, "To stage this version, run `muster resource stage %s@%d`.\n", p.ID, v.Number)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&p.Note, "note", "", "`note` on what is new")
	cmd.Flags().BoolVar(&p.Stage, "stage", false, "stage the version right away")
	cmd.Flags().StringVar(&p.Source.Git, "git", "", "`URL` of a Git repository with the files")
	cmd.Flags().StringVar(&p.Source.Ref, "ref", "", "`tag`, branch or commit in the repository")
	cmd.Flags().StringVar(&p.Source.Folder, "folder", "", "`folder` in the repository (default: all of it)")
	cmd.Flags().StringVar(&p.Source.Secret, "secret", "", "`name` of a secret with user:token, or a token, for the repository")
	return cmd
}

func pushFile(c *cli.Context, cmd *cobra.Command, api *cli.Client, p resource.Push, name string) (v resource.Version, err error) {
	f, err := inputFile(c, name)
	if err != nil {
		return v, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return v, err
	}
	if info.IsDir() {
		return v, cli.Usagef("%s is a directory", name).Hint("Pack it first: tar -C %s -czf %s.tar.gz .", name, filepath.Base(name))
	}
	if p.Source.File = name; name == "-" {
		p.Source.File = ""
	}
	bar := showTransfer(c, "Pushing", info.Size())
	defer bar.End()
	return api.Resources.Push(cmd.Context(), p, f, info.Size(), bar.Seen)
}

// inputFile opens a file. Stdin is copied to one first, since its hash is sent before its content.
func inputFile(c *cli.Context, name string) (*os.File, error) {
	if name != "-" {
		return os.Open(name)
	}
	f, err := os.CreateTemp("", "muster-push-*")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name())
	if _, err = io.Copy(f, c.Stdin); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func showTransfer(c *cli.Context, what string, total int64) *cli.Transfer {
	if !cli.IsTerminal(c.Stderr) || os.Getenv("TERM") == "dumb" {
		return cli.NewTransfer(nil, what, total)
	}
	return cli.NewTransfer(c.Stderr, what, total)
}

func resourceListCommand(c *cli.Context) *cobra.Command {
	var f resource.Filter
	cmd := &cobra.Command{
		Use: "list", Short: "List resources", Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			api, err := c.Connect()
			if err != nil {
				return err
			}
			list, err := api.Resources.List(cmd.Context(), f)
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(map[string]any{"resources": append([]resource.Info{}, list...)})
			}
			if len(list) == 0 {
				fmt.Fprintln(c.Stdout, "No resources. Create one with `muster resource push`.")
				return nil
			}
			t := cli.NewTable("RESOURCE", "FORMAT", "IN USE>", "NEXT", "LATEST>", "SIZE>")
			for _, r := range list {
				next := ""
				switch {
				case r.Staged > 0:
					next = fmt.Sprint(r.Staged)
				case r.Recall:
					next = "none"
				}
				t.Add(r.ID.String(), string(r.Format), versionOr(r.Active), next, fmt.Sprint(r.Latest), humanize.Bytes(r.Size))
			}
			return t.Show(c)
		},
	}
	cmd.Flags().StringVar(&f.Member, "automator", "", "filter by `automator`")
	cmd.Flags().StringVar(&f.Type, "type", "", "filter by `type`")
	cmd.Flags().StringVar(&f.Search, "search", "", "filter by `text` in the name")
	return cmd
}

func versionOr(n int64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func resourceShowCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use: "show RESOURCE", Short: "Show a resource and its versions", Args: cli.Exactly("RESOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, _, err := resourceArg(args[0], false)
			if err != nil {
				return err
			}
			api, err := c.Connect()
			if err != nil {
				return err
			}
			r, err := api.Resources.Get(cmd.Context(), id)
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(r)
			}
			t := cli.NewTable("VERSION>", "STATE", "SIZE>", "AGE>", "BY", "CLUSTERS>", "PROVISIONERS>", "SOURCE", "NOTE")
			for _, v := range r.Versions {
				state := string(v.State)
				if !v.DeletedAt.IsZero() {
					state = "deleted"
				}
				t.Add(fmt.Sprint(v.Number), state, humanize.Bytes(v.Size), humanize.Duration(time.Since(v.At)), v.By, fmt.Sprint(v.Clusters), fmt.Sprint(len(v.Held)), sourceWords(v.Source), v.Note)
			}
			return t.Show(c)
		},
	}
}

func sourceWords(s resource.Source) string {
	if s.Git == "" {
		return s.File
	}
	return fmt.Sprintf("%s %s (%.10s)", s.Git, s.Ref, s.Commit)
}

func resourceMarkCommand(c *cli.Context, mark, short string) *cobra.Command {
	return &cobra.Command{
		Use: mark + " RESOURCE@VERSION", Short: short, Args: cli.Exactly("RESOURCE@VERSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, number, err := resourceArg(args[0], true)
			if err != nil {
				return err
			}
			if number == 0 {
				return cli.Usagef("a version of %s is required", id).Hint("Add it after @, as in %s@1.", id)
			}
			api, err := c.Connect()
			if err != nil {
				return err
			}
			r, err := api.Resources.Mark(cmd.Context(), id, number, mark)
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(r)
			}
			for _, v := range r.Versions {
				if v.Number == number {
					fmt.Fprintf(c.Stdout, "%s@%d is %s.\n", id, number, v.State)
				}
			}
			if r.Staged > 0 || r.Recall {
				fmt.Fprintln(c.Stdout, "To apply this, run `muster resource sync`.")
			}
			return nil
		},
	}
}

func resourceSyncCommand(c *cli.Context) *cobra.Command {
	var member string
	var dry bool
	cmd := &cobra.Command{
		Use: "sync", Short: "Put staged versions into use, and take recalled ones out of use", Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			api, err := c.Connect()
			if err != nil {
				return err
			}
			s, err := api.Resources.Sync(cmd.Context(), member, dry)
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(s)
			}
			if len(s.Changes) == 0 {
				fmt.Fprintln(c.Stdout, "Nothing to sync: no version is staged or recalled.")
				return nil
			}
			t := cli.NewTable("RESOURCE", "BEFORE>", "AFTER>")
			for _, ch := range s.Changes {
				t.Add(ch.ID.String(), versionOr(ch.From), versionOr(ch.To))
			}
			return t.Show(c)
		},
	}
	cmd.Flags().StringVar(&member, "automator", "", "filter by `automator`")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show the changes without applying them")
	return cmd
}

func resourcePullCommand(c *cli.Context) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use: "pull RESOURCE[@VERSION]", Short: "Download a version of a resource (default: the one in use)", Args: cli.Exactly("RESOURCE[@VERSION]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, number, err := resourceArg(args[0], true)
			if err != nil {
				return err
			}
			api, err := c.Connect()
			if err != nil {
				return err
			}
			r, err := api.Resources.Get(cmd.Context(), id)
			if err != nil {
				return err
			}
			if number == 0 {
				number = r.Active
			}
			var v resource.Version
			for _, have := range r.Versions {
				if have.Number == number && have.DeletedAt.IsZero() {
					v = have
				}
			}
			if v.Number == 0 {
				return &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("this version of %s doesn't exist", id), Hint: "List its versions: muster resource show " + id.String()}
			}
			if to == "" {
				if to = fmt.Sprintf("%s-%d", id.Name, v.Number); v.Source.File != "" {
					to += filepath.Ext(v.Source.File)
				}
			}
			return pull(c, cmd, api, id, v, to)
		},
	}
	cmd.Flags().StringVarP(&to, "output", "O", "", "`file` to write, or - for stdout")
	return cmd
}

func pull(c *cli.Context, cmd *cobra.Command, api *cli.Client, id resource.ID, v resource.Version, to string) error {
	bar := showTransfer(c, "Pulling", v.Size)
	defer bar.End()
	if to == "-" {
		return api.Resources.Pull(cmd.Context(), id, v, c.Bytes(), bar.Seen)
	}
	f, err := os.CreateTemp(filepath.Dir(to), ".muster-pull-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	err = api.Resources.Pull(cmd.Context(), id, v, f, bar.Seen)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), to)
	}
	if err != nil {
		return err
	}
	bar.End()
	fmt.Fprintf(c.Stdout, "Saved %s@%d to %s (%s).\n", id, v.Number, to, humanize.Bytes(v.Size))
	return nil
}

func resourceDiffCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use: "diff RESOURCE FROM TO", Short: "Compare two versions of a resource, file by file", Args: cli.Exactly("RESOURCE", "FROM", "TO"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, _, err := resourceArg(args[0], false)
			if err != nil {
				return err
			}
			from, err1 := strconv.ParseInt(args[1], 10, 64)
			to, err2 := strconv.ParseInt(args[2], 10, 64)
			if err1 != nil || err2 != nil || from < 0 || to < 0 {
				return cli.Usagef("FROM and TO must be version numbers")
			}
			api, err := c.Connect()
			if err != nil {
				return err
			}
			d, err := api.Resources.Diff(cmd.Context(), id, from, to)
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(d)
			}
			for _, ch := range d.Changes {
				switch {
				case ch.Before == nil:
					fmt.Fprintf(c.Stdout, "+ %s  %s\n", ch.Path, humanize.Bytes(ch.After.Size))
				case ch.After == nil:
					fmt.Fprintf(c.Stdout, "- %s  %s\n", ch.Path, humanize.Bytes(ch.Before.Size))
				default:
					fmt.Fprintf(c.Stdout, "~ %s  %s > %s\n", ch.Path, humanize.Bytes(ch.Before.Size), humanize.Bytes(ch.After.Size))
				}
			}
			if d.More > 0 {
				fmt.Fprintf(c.Stdout, "… and %d more\n", d.More)
			}
			fmt.Fprintf(c.Stdout, "%d changed, %d unchanged.\n", len(d.Changes)+d.More, d.Unchanged)
			return nil
		},
	}
}

func resourceDeleteCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use: "delete RESOURCE@VERSION", Short: "Delete a version that isn't in use", Args: cli.Exactly("RESOURCE@VERSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, number, err := resourceArg(args[0], true)
			if err != nil {
				return err
			}
			if number == 0 {
				return cli.Usagef("a version of %s is required", id).Hint("Add it after @, as in %s@1.", id)
			}
			api, err := c.Connect()
			if err != nil {
				return err
			}
			if err := api.Resources.Delete(cmd.Context(), id, number); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Deleted %s@%d. Its content is removed once no cluster needs it.\n", id, number)
			return nil
		},
	}
}

func resourceTypesCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use: "types", Short: "List the types of resources", Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			api, err := c.Connect()
			if err != nil {
				return err
			}
			all, err := api.Resources.Types(cmd.Context())
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(map[string]any{"types": all})
			}
			t := cli.NewTable("AUTOMATOR", "TYPE", "FORMAT", "DESCRIPTION")
			for _, m := range all {
				for _, ty := range m.Types {
					t.Add(m.Member, ty.Name, string(ty.Format), ty.Help)
				}
			}
			return t.Show(c)
		},
	}
}
