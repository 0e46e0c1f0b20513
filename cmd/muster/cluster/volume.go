package cluster

import "github.com/spf13/pflag"

func theVolumes(f *updateFlags, flags *pflag.FlagSet) {
	flags.Var(&f.volumes, "volumes", "what happens to the cluster's volumes when their nodes are deleted: keep or delete (default: what each volume says)")
}
