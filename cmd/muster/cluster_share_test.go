package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/server"
)

// A cluster is created private, shared, made visible and given to a group on the command line.
func TestShareCommands(t *testing.T) {
	t.Parallel()
	w := newFleetServer(t, "", func(c *server.Config) { c.Workers = 1 })
	w.until("the server has left its address", func() bool {
		_, err := os.Stat(filepath.Join(w.server.Data, cli.ClientFile))
		return err == nil
	})
	for _, name := range []string{"ana", "bob"} {
		if err := w.server.Store.CreateUser(t.Context(), identity.User{Tenant: app.DefaultTenant, Name: name, Role: app.RoleUser, CreatedAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		says string
		args string
	}{
		{"private", "tenant visibility"},
		{"Group ops", "group save ops --add bob"},
		{" accepted: ", "cluster create shop --template slow --size 1 --visibility private"},
		{"private", "cluster show shop"},
		{"ana user|group:ops reader", "cluster share shop --with ana:user --with group:ops:reader"},
		{"ana user|group:ops reader", "cluster share shop"},
		{"ana user until ", "cluster share shop ana --access user --for 8h"},
		{"ana user until ", "cluster share shop"},
		{"who to share the cluster with is missing", "cluster share shop --for 8h"},
		{"from 1 min to 366 days", "cluster share shop ana --until 2001-01-01"},
		{"Invalid duration", "cluster share shop ana --for soon"},
		{"ana user|group:ops reader", "cluster share shop ana --access user"},
		{"has no access level", "cluster share shop --with ana"},
		{"Unknown access", "cluster share shop --with group:ops"},
		{"User \"nemo\" doesn't exist", "cluster share shop --with nemo:user"},
		{"ana user", "cluster unshare shop group:ops"},
		{"everyone in the tenant reader", "cluster visibility shop tenant"},
		{"one of: private, tenant", "cluster visibility shop world"},
		{"now belongs to admin and group:ops", "cluster transfer shop group:ops"},
		{"group:ops owner", "cluster share shop"},
		{"tenant", "tenant visibility tenant"},
		{"You aren't a member of the group", "cluster create other --template slow --size 1 --group ops"},
	} {
		out, err := w.muster(strings.Fields(c.args)...)
		if err != nil {
			out += err.Error()
		}
		out = strings.Join(strings.Fields(out), " ")
		for _, s := range strings.Split(c.says, "|") {
			if !strings.Contains(out, s) {
				t.Errorf("muster %s says %q, want %q", c.args, out, s)
			}
		}
		if strings.Contains(c.args, "unshare") && strings.Contains(out, "ops") {
			t.Errorf("muster %s says %q", c.args, out)
		}
	}
}
