package bot

import (
	"context"
	"time"

	"muster/app"
	"muster/app/idle"
	"muster/app/template"
)

// idles shows how clusters are used, and keeps them.
type idles struct{ idle Idle }

// keep keeps a cluster; without a duration it shows how the cluster is used.
func (is idles) keep(ctx context.Context, r request) (Answer, error) {
	if len(r.words) < 1 || len(r.words) > 2 {
		return Answer{}, r.usage()
	}
	if len(r.words) == 1 {
		v, err := is.idle.ClusterIdle(ctx, r.actor, r.words[0])
		if err != nil {
			return Answer{}, err
		}
		return r.idleShown(v, "Use of "+v.Name, false), nil
	}
	by, err := template.ParseLength(r.words[1])
	if err != nil {
		return Answer{}, err
	}
	v, err := is.idle.KeepCluster(ctx, r.actor, r.words[0], by)
	if err != nil {
		return Answer{}, err
	}
	return r.idleShown(v, v.Name+" is kept", false), nil
}

// more handles a button.
func (is idles) more(ctx context.Context, r request, d action) (Answer, error) {
	v, err := is.idle.KeepCluster(ctx, r.actor, d.Cluster, time.Duration(d.By)*time.Second)
	if err != nil {
		return Answer{}, err
	}
	return r.idleShown(v, v.Name+" is kept", d.Beside), nil
}

// idleShown shows how a cluster is used, with a button that keeps it.
func (r reader) idleShown(v idle.View, title string, beside bool) Answer {
	a := Answer{Title: title, Lines: []string{v.Sentence(r.now())}, Links: []Link{{"View cluster", r.Page(app.ClusterSubject(v.Cluster))}}}
	if !v.KeptUntil.IsZero() {
		a.Lines = []string{"Kept until " + r.moment(v.KeptUntil) + " by " + v.KeptBy + "."}
		return a
	}
	a.Buttons = r.keepButtons(v, beside)
	return a
}

// keepButtons keep a cluster that is idle.
func (r reader) keepButtons(v idle.View, beside bool) []Button {
	if !v.MayKeep || v.State != "idle" && v.State != "warned" {
		return nil
	}
	return []Button{action{Do: doKeep, Cluster: v.Cluster, By: v.KeepSeconds, Beside: beside}.button(idle.KeepWords(v.KeepStep()), false)}
}
