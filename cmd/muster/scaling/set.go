package scaling

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"muster/app/file/yamlfile"
	"muster/app/scaling"
	"muster/app/template"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/cluster"

	"github.com/spf13/cobra"
)

// maxFile is the largest file with rules, in bytes.
const maxFile = 256 << 10

// flags are those that change rules.
type flags struct {
	file        string
	least, most int
	step, brake int
	up, down    string
	every       string
	schedule    []string
	zone        string
	dryRun      bool
	changed     func(name string) bool
	names       []string
}

func setCommand(c *cli.Context) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "set ID|NAME",
		Short: "Set a cluster's own scaling rules",
		Long: "Set scaling rules of the cluster itself, instead of its template's. --file takes all rules from a YAML or JSON file, or from stdin for -.\n" +
			"Other flags change the rules that count now. A schedule entry is weekdays and a time, = and the number of nodes, or >= and the minimum\n" +
			"from then on. Metrics need a file; see docs/scaling.md.",
		Example: "  muster cluster scaling set shop --max 8 --dry-run\n" +
			"  muster cluster scaling set shop --min 2 --max 6 --schedule \"Mon-Fri 08:00 >= 4\" --schedule \"Mon-Fri 19:00 = 2\" --zone Europe/Berlin\n" +
			"  muster cluster scaling set shop --file rules.yaml",
		Args: cli.Exactly("ID|NAME"),
	}
	fl := cmd.Flags()
	fl.StringVar(&f.file, "file", "", "`file` with the rules; - for stdin")
	fl.IntVar(&f.least, "min", 0, "smallest `number` of nodes")
	fl.IntVar(&f.most, "max", 0, "largest `number` of nodes")
	fl.IntVar(&f.step, "step", 0, "`number` of nodes that a metric adds or removes at once")
	fl.IntVar(&f.brake, "brake", 0, "`number` of failures in a row after which scaling pauses")
	fl.StringVar(&f.up, "cool-down-up", "", "`duration` after a change before a metric can add nodes, such as 3m")
	fl.StringVar(&f.down, "cool-down-down", "", "`duration` after a change before a metric can remove nodes, such as 10m")
	fl.StringVar(&f.every, "every", "", "`duration` between measurements, such as 1m")
	fl.StringArrayVar(&f.schedule, "schedule", nil, "`entry` such as \"Mon-Fri 08:00 >= 4\" (repeatable; replaces all entries)")
	fl.StringVar(&f.zone, "zone", "", "time `zone` of the schedule, such as Europe/Berlin (default: UTC)")
	fl.BoolVar(&f.dryRun, "dry-run", false, "only record what would happen; --dry-run=false turns it off")
	f.names = []string{"min", "max", "step", "brake", "cool-down-up", "cool-down-down", "every", "schedule", "dry-run"}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f.changed = cmd.Flags().Changed
		if err := f.check(); err != nil {
			return err
		}
		rules, err := f.read(c)
		if err != nil {
			return err
		}
		cl, v, err := cluster.ConnectTo(cmd.Context(), c, args[0], false)
		if err != nil {
			return err
		}
		if rules == nil {
			now, err := cl.Scaling.Get(cmd.Context(), v.ID)
			if err != nil {
				return err
			}
			if rules = now.Rules; rules == nil {
				rules = &template.ScalingPolicy{Min: 1, Max: max(now.Nodes, 1)}
			}
		}
		if err := f.lay(rules); err != nil {
			return err
		}
		s, err := cl.Scaling.Set(cmd.Context(), v.ID, scaling.Setting{Rules: rules})
		if err != nil {
			return err
		}
		return show(c, s, 0)
	}
	return cmd
}

func (f *flags) check() error {
	switch {
	case f.file == "" && !slices.ContainsFunc(f.names, f.changed):
		return cli.Usagef("nothing to set").Hint("For example: muster cluster scaling set NAME --max 8")
	case f.zone != "" && len(f.schedule) == 0:
		return cli.Usagef("--zone requires --schedule")
	}
	return nil
}

// read reads the file; nil where there is none.
func (f *flags) read(c *cli.Context) (*template.ScalingPolicy, error) {
	if f.file == "" {
		return nil, nil
	}
	var b []byte
	var err error
	if f.file == "-" {
		b, err = io.ReadAll(io.LimitReader(c.Stdin, maxFile))
	} else {
		b, err = cli.ReadLimited(f.file, maxFile)
	}
	if err != nil {
		return nil, cli.Usagef("%v", err).Hint("Name a YAML or JSON file with scaling rules, or - for stdin.")
	}
	p := &template.ScalingPolicy{}
	file := yamlfile.Parse(string(b))
	switch {
	case file.Empty:
		file.Wrong(0, 0, "", "The file is empty.", "")
	case file.Root != nil:
		file.Read(file.Root, p, "")
	}
	if err := file.Err(f.file, "scaling"); err != nil {
		return nil, cli.Usagef("%s", err.Error()).Hint("Example:\n  min: 1\n  max: 5\n  metrics:\n    - {name: queue, above: 10, below: 2}")
	}
	return p, nil
}

// lay lays what flags say over rules.
func (f *flags) lay(p *template.ScalingPolicy) error {
	for _, x := range []struct {
		name string
		from int
		to   *int
	}{{"min", f.least, &p.Min}, {"max", f.most, &p.Max}, {"step", f.step, &p.Step}, {"brake", f.brake, &p.Brake}} {
		if f.changed(x.name) {
			if x.from < 1 {
				return cli.Usagef("--%s must be at least 1, not %d", x.name, x.from)
			}
			*x.to = x.from
		}
	}
	for _, x := range []struct {
		name, from string
		to         *string
	}{{"cool-down-up", f.up, &p.CoolDownUp}, {"cool-down-down", f.down, &p.CoolDownDown}, {"every", f.every, &p.Every}} {
		if f.changed(x.name) {
			*x.to = x.from
		}
	}
	if f.changed("dry-run") {
		p.DryRun = f.dryRun
	}
	if !f.changed("schedule") {
		return nil
	}
	p.Schedule = nil
	for _, text := range f.schedule {
		t, err := entry(text, f.zone)
		if err != nil {
			return err
		}
		p.Schedule = append(p.Schedule, t)
	}
	return nil
}

// entry reads "Mon-Fri 08:00 = 4", or with >= a minimum.
func entry(text, zone string) (template.ScalingTime, error) {
	at, number, ok := strings.Cut(text, "=")
	n, err := strconv.Atoi(strings.TrimSpace(number))
	if !ok || err != nil || n < 1 {
		return template.ScalingTime{}, cli.Usagef("--schedule: %q isn't an entry", text).Hint("For example: --schedule %q", "Mon-Fri 08:00 >= 4")
	}
	at, least := strings.CutSuffix(strings.TrimSpace(at), ">")
	t := template.ScalingTime{At: strings.TrimSpace(at), Zone: zone, Nodes: n}
	if least {
		t.Nodes, t.Min = 0, n
	}
	return t, nil
}
