package cluster

import (
	"context"
	"errors"

	"muster/app/humanize"
	"muster/app/template"
	"muster/app/volume"
	"muster/cmd/muster/cli"

	"github.com/spf13/pflag"
)

// volumeChoice is the value of --volumes.
type volumeChoice template.VolumeChoice

// Set accepts one of the choices.
func (v *volumeChoice) Set(text string) error {
	if text == "" || template.VolumeChoice(text).Check() != nil {
		return errors.New("choose keep or delete")
	}
	*v = volumeChoice(text)
	return nil
}

// String returns the value, "" if unset.
func (v *volumeChoice) String() string { return string(*v) }

// Type is the value's name in help.
func (v *volumeChoice) Type() string { return "choice" }

func theVolumes(f *updateFlags, flags *pflag.FlagSet) {
	flags.Var(&f.volumes, "volumes", "what happens to the cluster's volumes when their nodes are deleted: keep or delete (default: what each volume says)")
}

// printVolumeFates says what happens to the volumes of a cluster that is to be deleted.
func printVolumeFates(ctx context.Context, c *cli.Context, cl *cli.Client, cluster string, choice template.VolumeChoice) error {
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
