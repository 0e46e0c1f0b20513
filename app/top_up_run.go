package app

import "time"

func (d TopUpDue) Tell(at time.Time, title, text string) *Notice {
	c := d.Cluster
	return &Notice{At: at, Tenant: c.Tenant, Kind: NoticeCluster, Cluster: c.ID, Users: []string{c.Owner}, About: ClusterSubject(c.ID), Title: title, Text: text}
}
