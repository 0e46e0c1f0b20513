package catalog

import (
	"net/http"
	"slices"

	"muster/app"
	"muster/app/catalog"
	"muster/app/family"
	"muster/app/humanize"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

// providerTypesCommand lists provider types and their settings.
func providerTypesCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "types [TYPE]", Short: "List provider types, or the settings of one", Args: cli.AtMost(1),
		Long: "List the provider types that the server supports or, with TYPE, the settings of its accounts and the extra fields of hardware and image types.",
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			var all catalog.Families
			if err := cl.Call(cmd.Context(), http.MethodGet, "/catalog/families", nil, nil, &all); err != nil {
				return err
			}
			if len(args) == 0 {
				if c.JSON() {
					return c.PrintJSON(map[string]any{"types": all.Providers})
				}
				t := cli.NewTable("TYPE", "DESCRIPTION")
				for _, d := range all.Providers {
					t.Add(d.Name, cli.Dash(d.Description))
				}
				return t.Show(c)
			}
			i := slices.IndexFunc(all.Providers, func(d family.Descriptor) bool { return d.Name == args[0] })
			if i < 0 {
				var names []string
				for _, d := range all.Providers {
					names = append(names, d.Name)
				}
				e := app.Errorf(app.ENotFound, "Provider type %.60q doesn't exist.", args[0])
				e.Hint = humanize.Suggest(args[0], names)
				return e
			}
			if c.JSON() {
				return c.PrintJSON(all.Providers[i])
			}
			return printFields(c, all.Providers[i])
		}}
}

func printFields(c *cli.Context, d family.Descriptor) error {
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
		by := "account"
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
