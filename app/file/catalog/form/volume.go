package form

import "muster/app/template"

type volumeDoc struct {
	Name       string `yaml:"name" need:"" doc:"Name of the volume, such as data. The configuration can change it under volumes.NAME."`
	SizeGB     int    `yaml:"size_gb" need:"" least:"1" doc:"Size in GB. The configuration key volumes.NAME.size_gb overrides it when the volume is created."`
	Mount      string `yaml:"mount" need:"" doc:"Folder to mount it on, such as /var/lib/postgresql, or ~/data in the home of the SSH user."`
	Filesystem string `yaml:"filesystem" doc:"File system for an empty volume: ext4 or xfs. Default: ext4."`
	OnDelete   string `yaml:"on_delete" doc:"What happens when the node is deleted: delete or keep. Default: delete."`
}

func volumesOf(docs []volumeDoc) (list []template.Volume) {
	for _, d := range docs {
		list = append(list, template.Volume{Name: d.Name, SizeGB: d.SizeGB, Mount: d.Mount, Filesystem: d.Filesystem, OnDelete: template.VolumeChoice(d.OnDelete)})
	}
	return list
}

func volumeDocs(list []template.Volume) (docs []volumeDoc) {
	for _, v := range list {
		docs = append(docs, volumeDoc{Name: v.Name, SizeGB: v.SizeGB, Mount: v.Mount, Filesystem: v.Filesystem, OnDelete: string(v.OnDelete)})
	}
	return docs
}
