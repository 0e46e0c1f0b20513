package form

import "muster/app/template"

type snapshotsDoc struct {
	Every   string `yaml:"every" need:"" doc:"Time between two snapshots, 1h to 90d, or the five fields of a crontab in UTC."`
	Keep    int    `yaml:"keep" least:"1" doc:"How many snapshots to keep, the newest ones, at most 100."`
	KeepFor string `yaml:"keep_for" doc:"How long to keep a snapshot, instead of keep, such as 30d."`
}

type volumeDoc struct {
	Name       string        `yaml:"name" need:"" doc:"Name of the volume, such as data. The configuration can change it under volumes.NAME."`
	SizeGB     int           `yaml:"size_gb" need:"" least:"1" doc:"Size in GB. The configuration key volumes.NAME.size_gb overrides it for new volumes."`
	Mount      string        `yaml:"mount" need:"" doc:"Folder to mount it on, such as /var/lib/postgresql, or ~/data in the home of the SSH user."`
	Filesystem string        `yaml:"filesystem" doc:"File system for an empty volume: ext4 or xfs. Default: ext4."`
	OnDelete   string        `yaml:"on_delete" doc:"What happens when the node is deleted: delete or keep. Default: delete."`
	Snapshots  *snapshotsDoc `yaml:"snapshots" doc:"Snapshots by schedule. volumes.NAME.snapshots overrides it. Default: none."`
}

func volumesOf(docs []volumeDoc) (list []template.Volume) {
	for _, d := range docs {
		v := template.Volume{Name: d.Name, SizeGB: d.SizeGB, Mount: d.Mount, Filesystem: d.Filesystem,
			OnDelete: template.VolumeChoice(d.OnDelete)}
		if d.Snapshots != nil {
			v.Snapshots = template.Snapshots{Every: d.Snapshots.Every, Keep: d.Snapshots.Keep, KeepFor: d.Snapshots.KeepFor}
		}
		list = append(list, v)
	}
	return list
}

func volumeDocs(list []template.Volume) (docs []volumeDoc) {
	for _, v := range list {
		d := volumeDoc{Name: v.Name, SizeGB: v.SizeGB, Mount: v.Mount, Filesystem: v.Filesystem, OnDelete: string(v.OnDelete)}
		if s := v.Snapshots; s.Every != "" {
			d.Snapshots = &snapshotsDoc{Every: s.Every, Keep: s.Keep, KeepFor: s.KeepFor}
		}
		docs = append(docs, d)
	}
	return docs
}
