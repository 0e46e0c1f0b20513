package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app/humanize"
	"muster/cmd/muster/build"
	"muster/cmd/muster/bulk"
	"muster/cmd/muster/catalog"
	"muster/cmd/muster/chat"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/cluster"
	"muster/cmd/muster/connect"
	"muster/cmd/muster/database"
	"muster/cmd/muster/demo"
	"muster/cmd/muster/doctor"
	"muster/cmd/muster/fleet"
	"muster/cmd/muster/identity"
	"muster/cmd/muster/image"
	"muster/cmd/muster/lock"
	"muster/cmd/muster/notification"
	"muster/cmd/muster/offline"
	"muster/cmd/muster/output"
	"muster/cmd/muster/policy"
	runcommand "muster/cmd/muster/run"
	"muster/cmd/muster/scaling"
	"muster/cmd/muster/server"
	"muster/cmd/muster/volume"
	"muster/cmd/muster/webhook"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commands is the command tree.
func commands(c *cli.Context) []*cobra.Command {
	return []*cobra.Command{
		grouped("server", server.ServeCommand(c)),
		grouped("server", demo.Command(c)),
		grouped("server", server.ProvisionerCommand(c)),
		grouped("server", fleet.ProvisionersCommand(c)),
		grouped("server", fleet.PluginCommand(c)),
		grouped("server", server.Command(c)),
		grouped("server", doctor.Command(c)),
		grouped("server", database.BackupCommand(c)),
		grouped("server", database.RestoreCommand(c)),
		grouped("server", database.MigrateCommand(c)),
		grouped("server", database.SecretsCommand(c)),
		grouped("server", identity.SecretCommand(c)),
		grouped("server", catalog.ResourceCommand(c)),
		grouped("server", identity.AuditCommand(c)),
		server.WorkerCommand(c),
		grouped("clusters", bulk.Extend(c, cluster.Command(c, slices.Concat(
			output.Commands(c), connect.Commands(c), []*cobra.Command{runcommand.Command(c), runcommand.ActionCommand(c),
				runcommand.ActionsCommand(c), runcommand.ScheduleCommand(c), scaling.Command(c), lock.Command(c)})...))),
		grouped("clusters", fleet.NodeCommand(c)),
		grouped("clusters", catalog.TemplateCommand(c)),
		grouped("clusters", fleet.PoolCommand(c)),
		grouped("clusters", volume.Command(c)),
		grouped("clusters", image.Command(c)),
		grouped("clusters", catalog.ProviderCommand(c)), grouped("clusters", catalog.AutomatorCommand(c)),
		grouped("clusters", fleet.OrphansCommand(c)),
		grouped("clusters", policy.QuotaCommand(c)),
		grouped("clusters", cluster.MaintenanceCommand(c)),
		grouped("clusters", policy.UsageCommand(c)),
		grouped("clusters", cluster.QueueCommand(c)),
		grouped("clusters", cluster.TopCommand(c)),
		grouped("clusters", cluster.ManualStepsCommand(c)),
		grouped("clusters", notification.Command(c)),
		grouped("clusters", policy.RequestCommand(c)),
		grouped("people", identity.LoginCommand(c)),
		grouped("people", identity.LogoutCommand(c)),
		grouped("people", identity.ProfileCommand(c)),
		grouped("people", policy.Command(c)),
		grouped("clusters", webhook.Command(c)),
		grouped("clusters", build.Command(c)),
		grouped("clusters", chat.Command(c)),
		grouped("people", identity.UserCommand(c)),
		grouped("people", identity.GroupCommand(c)),
		grouped("people", identity.TokenCommand(c)),
		grouped("people", identity.TenantCommand(c)),
		grouped("offline", offline.SolveCommand(c)),
		grouped("offline", offline.PlanCommand(c)),
		grouped("offline", catalog.Command(c)),
		manCommand(c),
		versionCommand(c),
	}
}

// grouped puts a command under a heading of the help.
func grouped(id string, cmd *cobra.Command) *cobra.Command {
	cmd.GroupID = id
	return cmd
}

func rootCommand(c *cli.Context) *cobra.Command {
	root := &cobra.Command{
		Use:   "muster",
		Short: "Turn a template and a size into a running cluster",
		Long: "Muster turns a template and a size into a running cluster, and deletes it when its lease expires.\n\n" +
			"Exit codes: 0 success, 1 failure, 2 usage error, 3 no layout exists.",
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.CheckScreen(); err != nil {
				return err
			}
			if err := checkEmpty(cmd); err != nil {
				return err
			}
			return c.CheckFormat(cmd)
		},
		Args: cli.UnknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddGroup(
		&cobra.Group{ID: "server", Title: "Server:"},
		&cobra.Group{ID: "clusters", Title: "Clusters:"},
		&cobra.Group{ID: "people", Title: "Users and access:"},
		&cobra.Group{ID: "offline", Title: "Catalog files (no server needed):"},
	)
	root.SetFlagErrorFunc(flagError)
	flags := root.PersistentFlags()
	flags.StringVar(&c.Format, "format", "text", "output `format`: text or json")
	flags.StringVar(&c.Color, "color", cli.ColorAuto, "when to use color: `auto` (on a terminal, unless $NO_COLOR is set), always or never")
	flags.BoolVar(&c.Wide, "wide", false, "don't fit tables to the terminal's width")
	flags.StringVar(&c.Data, "data", "", "data `directory` (default $MUSTER_DATA, or muster in your user data directory)")
	root.AddCommand(commands(c)...)
	root.AddCommand(aliasCommands(c)...)
	plainDefaults(root)
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "help" {
			cmd.Run, cmd.RunE = nil, help
		}
	}
	return root
}

// plainDefaults writes the defaults of durations as flags take them: 1h rather than 1h with zero minutes and seconds.
func plainDefaults(cmd *cobra.Command) {
	for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			if d, err := time.ParseDuration(f.DefValue); err == nil && f.Value.Type() == "duration" {
				f.DefValue = humanize.DurationField(d)
			}
		})
	}
	for _, sub := range cmd.Commands() {
		plainDefaults(sub)
	}
}

// help shows the help of a command, and suggests the nearest name for one that doesn't exist.
func help(cmd *cobra.Command, args []string) error {
	target, rest, err := cmd.Root().Find(args)
	if err != nil {
		return cli.Usagef("%s", err)
	}
	if err := cli.UnknownCommand(target, rest); err != nil {
		return err
	}
	target.InitDefaultHelpFlag()
	target.InitDefaultVersionFlag()
	return target.Help()
}

// checkEmpty rejects empty connection flags, such as --token "$TOKEN" with TOKEN unset: the host's own settings would apply instead, and the
// command would run as someone else or elsewhere.
func checkEmpty(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains([]string{"token", "server", "profile", "ca-fingerprint", "tenant"}, f.Name) && f.Value.Type() == "string" && f.Value.String() == "" && err == nil {
			err = cli.Usagef("--%s is empty", f.Name).Hint("Set a value, or omit the flag.")
		}
	})
	return err
}

// flagError rewords pflag's error, and suggests the nearest flag for an unknown one.
func flagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	if args := cmd.Flags().Args(); !cmd.HasParent() && len(args) > 0 { // its flags aren't known since it isn't known itself
		return cli.UnknownCommand(cmd, args)
	}
	u := cli.Usagef("%s", err)
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		u = cli.Usagef("--%s: %s", invalid.GetFlag().Name, flagWords(invalid))
	}
	if errors.As(err, &unknown) {
		u = cli.Usagef("unknown flag %s for `%s`", dashed(unknown.GetSpecifiedName()), cmd.CommandPath())
		if near := nearestFlag(cmd, unknown.GetSpecifiedName()); near != "" {
			return u.Hint("Did you mean --%s?", near)
		}
	}
	return u.Hint("See `%s --help`.", cmd.CommandPath())
}

// flagWords says why a flag's value is invalid.
func flagWords(e *pflag.InvalidValueError) string {
	cause := e.Unwrap()
	if cause == nil {
		return humanize.PlainError(e)
	}
	words := humanize.PlainError(cause)
	if value := strconv.Quote(e.GetValue()); !strings.Contains(words, value) {
		return value + ": " + words
	}
	return words
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// nearestFlag returns the flag of cmd whose name is closest to name, or "" where none is close.
func nearestFlag(cmd *cobra.Command, name string) string {
	best, near := "", 3
	consider := func(f *pflag.Flag) {
		d := humanize.EditDistance(name, f.Name)
		if len(name) > 2 && strings.HasPrefix(f.Name, name) {
			d = 1
		}
		if d < near && !f.Hidden {
			best, near = f.Name, d
		}
	}
	cmd.Flags().VisitAll(consider)
	cmd.InheritedFlags().VisitAll(consider)
	return best
}
