package volume

import (
	"context"
	"errors"

	"muster/app/humanize"
	"muster/app/template"
	"muster/app/volume"
	"muster/cmd/muster/cli"
)

// Choice is the value of a flag that says what happens to volumes: keep or delete.
type Choice template.VolumeChoice

// Set accepts one of the choices.
func (v *Choice) Set(text string) error {
	if text == "" || template.VolumeChoice(text).Check() != nil {
		return errors.New("choose keep or delete")
	}
	*v = Choice(text)
	return nil
}

// String returns the value, "" if unset.
func (v *Choice) String() string { return string(*v) }

// Type is the value's name in help.
func (v *Choice) Type() string { return "choice" }

// PrintFates says what happens to the volumes of a cluster that is to be deleted.
func PrintFates(ctx context.Context, c *cli.Context, cl *cli.Client, cluster string, choice template.VolumeChoice) error {
	list, err := cl.Volumes.List(ctx, cluster, false, false)
	if err != nil {
		return err
	}
	for _, v := range list {
		if v.Cluster == "" {
			continue
		}
		if choice != "" {
			v.OnDelete = choice
		}
		fate := "deleted with all data"
		if v.OnDelete == template.VolumeKeep {
			fate = "kept for " + humanize.Duration(volume.KeepFor)
		}
		cli.Line(c.Stdout, "Volume %s of %s (%d GB) is %s.", v.Name, v.Node, v.SizeGB, fate)
	}
	return nil
}
