package executable

import (
	"context"
	"errors"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/program"
	"muster/app/template"
)

// Program is an executable file that speaks the protocol, and what it said of itself.
type Program struct {
	Name string // the type of provider
	Path string
	Env  []string // names of Muster's own variables that it gets beside those that every program does
	Description
}

// Description is what a program says of itself, checked.
type Description struct {
	Descriptor family.Descriptor
	Rate       template.Rate // of calls, that an account usually takes; zero is no limit
	ListsLate  time.Duration // see family.LateLister
	Powers     []string      // of powerNames
	AtOnce     int           // most requests at the same time
	Protocol   int
}

// Powers are verbs beside the four that every provider has; sleep is also wake, and shared also delete_shared.
var powerNames = []string{verbSleep, verbAdopt, verbCheck, verbOffers, verbShared}

// descriptionLine is what describe is answered with.
type descriptionLine struct {
	Protocol         int            `json:"protocol"`
	Name             string         `json:"name"`
	Description      string         `json:"description"`
	Fields           []family.Field `json:"fields"`
	FlavorFields     []family.Field `json:"flavor_fields"`
	ImageFields      []family.Field `json:"image_fields"`
	Powers           []string       `json:"powers"`
	Firewalls        bool           `json:"firewalls"`
	Host             bool           `json:"host"`
	ListsLateSeconds float64        `json:"lists_late_seconds"`
	Rate             template.Rate  `json:"rate"`
	AtOnce           int            `json:"at_once"`
}

// Inquire starts a program, asks what it is, and ends it. The file is looked at before: see Vet.
func Inquire(ctx context.Context, name, path string, env []string, log *slog.Logger) (Program, error) {
	return inquire(ctx, name, path, env, log, usualTimes)
}

func inquire(ctx context.Context, name, path string, env []string, log *slog.Logger, t times) (Program, error) {
	inquired := Program{Name: name, Path: path, Env: env}
	if err := vet(path); err != nil {
		return Program{}, err
	}
	p, err := start(path, program.Environ(env), t, log.With("program", name), nil)
	if err != nil {
		return Program{}, app.Errorf(app.EInvalid, "can't start it: %w", err)
	}
	defer p.close()
	inquired.Description, err = p.describe(ctx, name)
	return inquired, err
}

// describe asks what the program is, which also settles the version of the protocol.
func (p *process) describe(ctx context.Context, name string) (Description, error) {
	bounded, cancel := context.WithTimeout(ctx, p.times.describe)
	defer cancel()
	var d descriptionLine
	err := p.ask(bounded, verbDescribe, describeParams{versions{oldest, newest}}, &d)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return Description{}, app.Errorf(app.ETimeout, "it didn't describe itself within %s", humanize.Duration(p.times.describe))
	}
	if e := app.AsError(err); err != nil && (e.Reason == reasonUnclear || e.Reason == reasonEnded) {
		<-p.dead
		return Description{}, app.Errorf(app.ETransient, "it didn't describe itself: %v", p.why)
	}
	if err != nil {
		return Description{}, err
	}
	return d.check(name)
}

var fieldForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

func (d descriptionLine) check(name string) (Description, error) {
	refuse := func(format string, args ...any) (Description, error) {
		return Description{}, app.Errorf(app.EInvalid, format, args...)
	}
	var none *secrets
	switch {
	case d.Protocol < oldest || d.Protocol > newest:
		return refuse("it uses protocol version %d, but this Muster supports versions %d to %d", d.Protocol, oldest, newest)
	case d.Name != name:
		return refuse("its file is named for the type %q, but it calls itself %q", name, none.tidy(d.Name, 50))
	case none.tidy(d.Description, longestMessage) == "":
		return refuse("its description is empty")
	case d.Rate.PerSecond < 0 || d.Rate.Burst < 0 || d.Rate.PerSecond > 1e6 || d.Rate.Burst > 1e6:
		return refuse("its rate is invalid")
	case d.ListsLateSeconds < 0 || d.ListsLateSeconds > 60:
		return refuse("its lists lag by %v s; the limit is 60 s", d.ListsLateSeconds)
	case d.AtOnce < 0 || d.AtOnce > maxAtOnce:
		return refuse("it declares %d concurrent requests; the range is 1 to %d", d.AtOnce, maxAtOnce)
	}
	for _, list := range [][]family.Field{d.Fields, d.FlavorFields, d.ImageFields} {
		if err := checkFields(list); err != nil {
			return Description{}, err
		}
	}
	// Muster can't know which of a program's settings say where its credentials go, so each may; those of single machines don't.
	for i := range d.Fields {
		is := func(f family.Field) bool { return f.Name == d.Fields[i].Name }
		d.Fields[i].Reaches = !slices.ContainsFunc(d.FlavorFields, is) && !slices.ContainsFunc(d.ImageFields, is)
	}
	for _, power := range d.Powers {
		if !slices.Contains(powerNames, power) {
			e := app.Errorf(app.EInvalid, "it declares an unknown capability, %q", none.tidy(power, 50))
			e.Hint = "Capabilities: " + strings.Join(powerNames, ", ") + "."
			return Description{}, e
		}
	}
	if d.Firewalls && !slices.Contains(d.Powers, verbShared) {
		return refuse("it creates firewalls but can't list and delete them: it lacks the capability %q", verbShared)
	}
	out := Description{Rate: d.Rate, ListsLate: time.Duration(d.ListsLateSeconds * float64(time.Second)), Powers: d.Powers, AtOnce: d.AtOnce, Protocol: d.Protocol,
		Descriptor: family.Descriptor{Name: d.Name, Description: none.tidy(d.Description, longestMessage), Fields: d.Fields, FlavorFields: d.FlavorFields, ImageFields: d.ImageFields, Firewalls: d.Firewalls, Host: d.Host,
			Sleeps: slices.Contains(d.Powers, verbSleep)}}
	if out.AtOnce == 0 {
		out.AtOnce = usualAtOnce
	}
	return out, nil
}

func checkFields(fields []family.Field) error {
	if len(fields) > maxFields {
		return app.Errorf(app.EInvalid, "it has more than %d fields", maxFields)
	}
	var none *secrets
	seen := map[string]bool{}
	for i := range fields {
		f := &fields[i]
		if !fieldForm.MatchString(f.Name) {
			return app.Errorf(app.EInvalid, "its field %q doesn't match %s", none.tidy(f.Name, 80), fieldForm)
		}
		if seen[f.Name] {
			return app.Errorf(app.EInvalid, "its field %s is a duplicate", f.Name)
		}
		seen[f.Name] = true
		if f.Label, f.Help = none.tidy(f.Label, 200), none.tidy(f.Help, longestMessage); f.Label == "" {
			f.Label = f.Name
		}
		if err := f.CheckType(); err != nil {
			return err
		}
		if k := f.Kind(); k != family.FieldText { // a text without a type may have several lines
			f.Type = k
		}
	}
	return nil
}
