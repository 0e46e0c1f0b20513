package executable

import (
	"context"
	"encoding/json"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/program"
	"muster/app/resource"
	"muster/app/template"
	"muster/automators/internal/node"
)

// Prefix is what names of programs begin with; the rest is the name of the automator.
const Prefix = program.AutomatorPrefix

// Program is an executable file that speaks the protocol, and what it said of itself.
type Program struct {
	Name       string
	Path       string
	Env        []string // names of Muster's own variables that it gets beside those that every program does
	Descriptor family.Descriptor
	DryRuns    bool
	Tools      []string // programs that the node needs
}

// descriptionLine is what describe is answered with.
type descriptionLine struct {
	Protocol      int                     `json:"protocol"`
	Name          string                  `json:"name"`
	Description   string                  `json:"description"`
	Fields        []family.Field          `json:"fields"`
	ResourceTypes []template.ResourceType `json:"resource_types"`
	Powers        []string                `json:"powers"`
	Tools         []string                `json:"tools"`
}

// Inquire starts a program, asks what it is, and ends it. Errors say why it cannot be used.
func Inquire(ctx context.Context, name, path string, env []string, log *slog.Logger) (Program, error) {
	return inquire(ctx, name, path, env, log, usualTimes)
}

func inquire(ctx context.Context, name, path string, env []string, log *slog.Logger, t times) (Program, error) {
	if err := program.Vet(path, Prefix); err != nil {
		return Program{}, err
	}
	p, err := start(path, program.Environ(env), t)
	if err != nil {
		return Program{}, app.Errorf(app.EInvalid, "can't start it: %w", err)
	}
	defer p.close()
	bounded, cancel := context.WithTimeout(ctx, t.describe)
	defer cancel()
	p.hear(func(line string) { log.Info("output of the automator's program", "program", name, "line", line) })
	result, err := p.ask(bounded, "", verbDescribe, describeParams{versions{oldest, newest}}, nil, &node.LastLine{})
	if err != nil {
		if bounded.Err() != nil && ctx.Err() == nil {
			return Program{}, app.Errorf(app.ETimeout, "it didn't describe itself within %s", humanize.Duration(t.describe))
		}
		return Program{}, err
	}
	var d descriptionLine
	if err := json.Unmarshal(result, &d); err != nil {
		return Program{}, app.Errorf(app.EInvalid, "its description is invalid (%s)", program.Tidy(err.Error(), 200))
	}
	described, err := d.check(name)
	described.Path, described.Env = path, env
	return described, err
}

var (
	fieldForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	typeForm  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$`)
	toolForm  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}$`)
)

func (d descriptionLine) check(name string) (Program, error) {
	refuse := func(format string, args ...any) (Program, error) {
		return Program{}, app.Errorf(app.EInvalid, format, args...)
	}
	switch {
	case d.Protocol < oldest || d.Protocol > newest:
		return refuse("it uses protocol version %d, but this Muster supports versions %d to %d", d.Protocol, oldest, newest)
	case d.Name != name:
		return refuse("its file is named for the automator %q, but it calls itself %q", name, program.Tidy(d.Name, 50))
	case program.Tidy(d.Description, longestMessage) == "":
		return refuse("its description is empty")
	case len(d.Fields) > maxFields || len(d.ResourceTypes) > maxFields || len(d.Tools) > maxTools:
		return refuse("it has more than %d fields or resource types, or more than %d tools", maxFields, maxTools)
	}
	seen := map[string]bool{}
	for i := range d.Fields {
		f := &d.Fields[i]
		if !fieldForm.MatchString(f.Name) || seen[f.Name] {
			return refuse("its field %q is a duplicate or doesn't match %s", program.Tidy(f.Name, 80), fieldForm)
		}
		seen[f.Name] = true
		if f.Label, f.Help = program.Tidy(f.Label, 200), program.Tidy(f.Help, longestMessage); f.Label == "" {
			f.Label = f.Name
		}
		if f.Default != "" && len(f.Options) > 0 && !slices.Contains(f.Options, f.Default) {
			return refuse("the default of its field %s isn't one of the options", f.Name)
		}
		if err := f.CheckType(); err != nil {
			return Program{}, err
		}
		if f.SetBy == "" {
			f.SetBy = family.SetByTenant // it reaches what runs on the tenant's nodes
		}
	}
	seen = map[string]bool{}
	for i := range d.ResourceTypes {
		r := &d.ResourceTypes[i]
		if !typeForm.MatchString(r.Name) || seen[r.Name] || r.Format != resource.FormatFile && r.Format != resource.FormatArchive || r.Mode < 0 || r.Mode > 0o777 {
			return refuse("its resource type %q is invalid: names must be unique, formats file or archive, and modes at most 511 (0777)", program.Tidy(r.Name, 80))
		}
		seen[r.Name] = true
		r.Label, r.Help = program.Tidy(r.Label, 200), program.Tidy(r.Help, longestMessage)
	}
	for _, tool := range d.Tools {
		if !toolForm.MatchString(tool) {
			return refuse("its tool %q isn't a valid program name", program.Tidy(tool, 80))
		}
	}
	for _, power := range d.Powers {
		if power != verbDryRun {
			e := app.Errorf(app.EInvalid, "it declares an unknown capability, %q", program.Tidy(power, 50))
			e.Hint = "The only capability is " + verbDryRun + "."
			return Program{}, e
		}
	}
	return Program{Name: name, DryRuns: slices.Contains(d.Powers, verbDryRun), Tools: d.Tools,
		Descriptor: family.Descriptor{Name: name, Description: strings.TrimSpace(program.Tidy(d.Description, longestMessage)), Fields: d.Fields, ResourceTypes: d.ResourceTypes}}, nil
}
