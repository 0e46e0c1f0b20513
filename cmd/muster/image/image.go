package image

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/image"
	"muster/app/template"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

// Command is muster image.
func Command(c *cli.Context) *cobra.Command {
	cmd := cli.Family("image", "Manage baked images", listCommand(c), bakeCommand(c), deleteCommand(c), ruleCommand(c))
	c.ServerFlags(cmd.PersistentFlags())
	return cmd
}

func listCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List baked images and the rules by which they are built", Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			v, err := cl.Images.List(cmd.Context())
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(v)
			}
			return printView(c, v)
		}}
}

func printView(c *cli.Context, v image.View) error {
	if len(v.Images) == 0 {
		cli.Line(c.Stdout, "No baked images. Build them: muster image bake TEMPLATE")
	} else if err := printImages(c, v.Images); err != nil {
		return err
	}
	for _, r := range v.Rules {
		cli.Line(c.Stdout, "Built automatically for template %s: %s.", r.Template, r.Text())
	}
	return nil
}

func printImages(c *cli.Context, all []image.Image) error {
	t := cli.NewTable("ID", "TEMPLATE", "STATE", "SERVICES", "BASE", "PROVIDER", "SAVES>", "USED>", "LAST USED")
	for _, i := range all {
		saves, used := "-", "-"
		if i.InstallTime > 0 {
			saves = humanize.Duration(i.InstallTime)
		}
		if !i.UsedAt.IsZero() {
			used = humanize.Ago(time.Now(), i.UsedAt)
		}
		t.Add(strconv.FormatInt(i.ID, 10), i.Template, string(i.State), strings.Join(i.Services, ","), i.Base, i.Provider, saves, strconv.Itoa(i.Uses), used)
	}
	if err := t.Show(c); err != nil {
		return err
	}
	for _, i := range all {
		if i.Error != "" {
			cli.Line(c.Stdout, "Image %d failed: %s", i.ID, i.Error)
		}
	}
	return nil
}

func bakeCommand(c *cli.Context) *cobra.Command {
	var size int
	var wait bool
	cmd := &cobra.Command{Use: "bake TEMPLATE [--size N] [--wait]", Short: "Build the baked images of a template (admins)",
		Long: "Build the baked images of a template: create a machine, install the services, make an image of it, and delete it. The machine counts\n" +
			"toward the tenant's quota and cost. New clusters start from the image, and skip these installs. Requires the admin role.",
		Example: "  muster image bake web --wait", Args: cli.Exactly("TEMPLATE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			b, err := cl.Images.Bake(cmd.Context(), args[0], size)
			if err != nil {
				return err
			}
			var failed error
			for wait && slices.ContainsFunc(b.Images, func(i image.Image) bool { return i.State == image.StateWaiting || i.State == image.StateBuilding }) {
				select {
				case <-cmd.Context().Done():
					return cmd.Context().Err()
				case <-time.After(500 * time.Millisecond):
				}
				v, err := cl.Images.List(cmd.Context())
				if err != nil {
					return err
				}
				for n := range b.Images {
					at := slices.IndexFunc(v.Images, func(i image.Image) bool { return i.ID == b.Images[n].ID })
					if at < 0 {
						return app.Errorf(app.ENotFound, "Image %d was deleted.", b.Images[n].ID)
					}
					if b.Images[n] = v.Images[at]; b.Images[n].State == image.StateFailed {
						failed = app.Errorf(app.EConflict, "Image %d couldn't be built.", b.Images[n].ID)
					}
				}
			}
			if c.JSON() {
				if err := c.PrintJSON(b); err != nil {
					return err
				}
				return failed
			}
			if err := printImages(c, b.Images); err != nil {
				return err
			}
			for _, why := range b.Left {
				cli.Line(c.Stdout, "%s", why)
			}
			return failed
		}}
	cmd.Flags().IntVar(&size, "size", 0, "number of `nodes` of the layout that the images are for (default: the smallest)")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until the images are ready")
	return cmd
}

func deleteCommand(c *cli.Context) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{Use: "delete ID", Short: "Delete a baked image (admins)", Args: cli.Exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || id < 1 {
				return cli.Usagef("%q isn't the ID of an image", args[0]).Hint("To list the images: muster image list")
			}
			if !yes && !cli.IsTerminal(c.Stdin) {
				return cli.Usagef("--yes is required without a terminal to confirm on")
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			if !yes {
				if err := c.Confirm(cmd.Context(), fmt.Sprintf("Delete image %d?", id), "the image was not deleted"); err != nil {
					return err
				}
			}
			if err := cl.Images.Delete(cmd.Context(), id); err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(map[string]any{"deleting": id})
			}
			cli.Line(c.Stdout, "Deleting image %d.", id)
			return nil
		}}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "skip the confirmation prompt")
	return cmd
}

func ruleCommand(c *cli.Context) *cobra.Command {
	var after int
	var within, keep string
	var off bool
	cmd := &cobra.Command{Use: "rule TEMPLATE [--after N] [--within TIME] [--keep TIME] [--off]",
		Short:   "Build baked images of a template when it's used often (admins)",
		Example: "  muster image rule web --after 3 --within 7d --keep 30d\n  muster image rule web --off", Args: cli.Exactly("TEMPLATE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := image.Rule{Template: args[0], AfterCreates: after}
			for _, x := range []struct {
				flag, value string
				to          *time.Duration
			}{{"within", within, &r.Within}, {"keep", keep, &r.KeepUnused}} {
				d, err := template.ParseLength(x.value)
				if err != nil {
					return cli.Usagef("--%s: %s", x.flag, app.AsError(err).Message).Hint("%s", app.AsError(err).Hint)
				}
				*x.to = d
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			if off {
				if err := cl.Images.DeleteRule(cmd.Context(), args[0]); err != nil {
					return err
				}
				if c.JSON() {
					return c.PrintJSON(map[string]any{"off": args[0]})
				}
				cli.Line(c.Stdout, "Images of template %s are no longer built automatically.", args[0])
				return nil
			}
			if r, err = cl.Images.SetRule(cmd.Context(), r); err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(r)
			}
			cli.Line(c.Stdout, "Images of template %s are built %s.", r.Template, r.Text())
			return nil
		}}
	cmd.Flags().IntVar(&after, "after", 3, "number of `clusters` to be created first, 1-1000")
	cmd.Flags().StringVar(&within, "within", "7d", "`time` within which the clusters are counted, such as 7d")
	cmd.Flags().StringVar(&keep, "keep", "30d", "`time` after which an unused image is deleted, such as 30d")
	cmd.Flags().BoolVar(&off, "off", false, "stop building images of the template")
	return cmd
}
