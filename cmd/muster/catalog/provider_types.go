package catalog

import (
	"net/http"
	"slices"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

// providerTypesCommand lists provider types and their settings.
func providerTypesCommand(c *cli.Context) *cobra.Command {
	return typesCommand(c, "Provider", "/provider-types", &cobra.Command{Short: "List provider types, or the settings of one",
		Long: "List the provider types that the server supports or, with TYPE, the settings of its accounts and the extra fields of hardware and image types."}, "account")
}

// automatorTypesCommand lists the server's automator types and their fields.
func automatorTypesCommand(c *cli.Context) *cobra.Command {
	return typesCommand(c, "Automator", "/automator-types", &cobra.Command{Short: "List the server's automator types, or the fields of one",
		Long: "List the automator types that the server supports or, with TYPE, the fields of its actions."}, "action")
}

func typesCommand(c *cli.Context, title, path string, cmd *cobra.Command, setIn string) *cobra.Command {
	cmd.Use, cmd.Args = "types [TYPE]", cli.AtMost(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cl, err := c.Connect()
		if err != nil {
			return err
		}
		var all struct {
			Types []family.Descriptor `json:"types"`
		}
		if err := cl.Call(cmd.Context(), http.MethodGet, path, nil, nil, &all); err != nil {
			return err
		}
		if len(args) == 0 {
			if c.JSON() {
				return c.PrintJSON(map[string]any{"types": all.Types})
			}
			head, tested := []string{"TYPE", "DESCRIPTION"}, func(family.Descriptor) []string { return nil }
			if title == "Provider" {
				head, tested = append(head, "TESTED WITH"), func(d family.Descriptor) []string { return []string{cli.Dash(d.Tested)} }
			}
			t := cli.NewTable(head...)
			for _, d := range all.Types {
				t.Add(append([]string{d.Name, cli.Dash(d.Description)}, tested(d)...)...)
			}
			return t.Show(c)
		}
		i := slices.IndexFunc(all.Types, func(d family.Descriptor) bool { return d.Name == args[0] })
		if i < 0 {
			var names []string
			for _, d := range all.Types {
				names = append(names, d.Name)
			}
			e := app.Errorf(app.ENotFound, "%s type %.60q doesn't exist.", title, args[0])
			e.Hint = humanize.Suggest(args[0], names)
			return e
		}
		if c.JSON() {
			return c.PrintJSON(all.Types[i])
		}
		return printFields(c, all.Types[i], setIn)
	}
	return cmd
}

func printFields(c *cli.Context, d family.Descriptor, setIn string) error {
	t := cli.NewTable("SETTING", "TYPE", "DEFAULT", "SET IN", "DESCRIPTION")
	add := func(f family.Field, by string) {
		kind := string(f.Kind())
		switch {
		case f.Kind() == family.FieldChoice:
			kind = ""
			for _, o := range f.Options {
				if kind != "" {
					kind += "|"
				}
				kind += o
			}
		case f.Secret:
			kind = "secret " + kind
		}
		if f.Required {
			kind += ", required"
		}
		if f.SetBy != family.SetByTenant && f.SetBy != family.SetByAccountOwner {
			kind += ", shared catalog only"
		}
		t.Add(f.Name, kind, cli.Dash(f.Default), by, cli.Dash(f.Label))
	}
	in := func(fields []family.Field, name string) bool {
		return slices.ContainsFunc(fields, func(f family.Field) bool { return f.Name == name })
	}
	for _, f := range d.Fields {
		by := setIn
		if in(d.FlavorFields, f.Name) {
			by += ", hardware"
		}
		if in(d.ImageFields, f.Name) {
			by += ", image"
		}
		add(f, by)
	}
	for _, f := range d.FlavorFields {
		if !in(d.Fields, f.Name) {
			add(f, "hardware")
		}
	}
	for _, f := range d.ImageFields {
		if !in(d.Fields, f.Name) {
			add(f, "image")
		}
	}
	return t.Show(c)
}
