//go:build real

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
)

func TestRealTemplateZooKeeper(t *testing.T) {
	t.Parallel()
	p := newTemplates(t, "java")
	v := p.made("zoo", "zookeeper", 3)
	p.publishes(v, "connect", "%s:2181", ",", v.Nodes)
	zk := func(n app.Node, command string) (string, error) {
		// What its client says of the connection may come after the answer.
		return p.on(v, n, "/var/lib/muster/zookeeper/*/zk "+address(n)+":2181 "+command+" 2>&1 | grep -vE '^(WATCHER::|WatchedEvent .*|)$' | tail -n 1"), nil
	}
	// What a member says itself: whether it leads, and who the others are.
	word := func(n app.Node, word string) string {
		c, err := (&net.Dialer{Timeout: 3 * time.Second}).DialContext(t.Context(), "tcp", address(n)+":2181")
		if err != nil {
			return err.Error()
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(30 * time.Second)) // then it is asked again
		_, _ = fmt.Fprint(c, word)
		var b strings.Builder
		buf := make([]byte, 4096)
		for {
			n, err := c.Read(buf)
			b.Write(buf[:n])
			if err != nil {
				return b.String()
			}
		}
	}
	voting := func(n app.Node) (string, error) {
		return fmt.Sprint(strings.Count(word(n, "conf"), ":participant;")), nil
	}
	if out, _ := zk(v.Nodes[0], "create /word kept"); out != "Created /word" {
		t.Fatal(out)
	}
	p.until("read through another node", "kept", func() (string, error) { return zk(v.Nodes[2], "get /word") })
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationResize, Size: 5})
	for _, n := range v.Nodes {
		p.until("members that "+n.Name+" counts", "5", func() (string, error) { return voting(n) })
	}
	var leader app.Node
	for _, n := range v.Nodes {
		if strings.Contains(word(n, "srvr"), "Mode: leader") {
			leader = n
		}
	}
	if leader.Name == "" {
		t.Fatal("no server leads")
	}
	p.dies(leader)
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationRepair, Nodes: []string{leader.Name}})
	p.until("the repaired node", "kept", func() (string, error) { return zk(node(v, leader.Name), "get /word") })
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationResize, Size: 3})
	for _, n := range v.Nodes {
		p.until("members that "+n.Name+" counts", "3", func() (string, error) { return voting(n) })
	}
	p.goes(v, 6)
}

func TestRealTemplateGalera(t *testing.T) {
	t.Parallel()
	p := newTemplates(t, "mariadbd", "mariadb", "rsync")
	v := p.made("sql", "galera", 3)
	p.publishes(v, "hosts", "%s:3306", ",", v.Nodes)
	env := []string{"MYSQL_PWD=" + p.password(v, "galera")}
	sql := func(n app.Node, text string) (string, error) {
		return tool(t.Context(), env, "mariadb", "--no-defaults", "-h", address(n), "-u", "app", "-BN", "-e", text, "app")
	}
	if out, err := sql(v.Nodes[0], "create table words (w varchar(20) primary key); insert into words values ('kept')"); err != nil {
		t.Fatal(out, err)
	}
	if out, err := sql(v.Nodes[2], "insert into words values ('newer')"); err != nil {
		t.Fatal(out, err) // every node takes writes
	}
	everywhere := func(want string) {
		t.Helper()
		for _, n := range v.Nodes {
			p.until("on "+n.Name, want, func() (string, error) { return sql(n, "select group_concat(w order by w separator ' ') from words") })
			p.until("nodes that "+n.Name+" counts", fmt.Sprint(len(v.Nodes)), func() (string, error) {
				out, err := sql(n, "show status like 'wsrep_cluster_size'")
				return strings.TrimPrefix(out, "wsrep_cluster_size\t"), err
			})
		}
	}
	everywhere("kept newer")
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationResize, Size: 4})
	everywhere("kept newer")
	// The one that began the cluster dies with its disk, and may not begin another one.
	p.dies(v.Nodes[0])
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationRepair, Nodes: []string{v.Nodes[0].Name}})
	everywhere("kept newer")
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationResize, Size: 3})
	everywhere("kept newer")
	p.goes(v, 5)
}

func TestRealTemplateLAMP(t *testing.T) {
	t.Parallel()
	p := newTemplates(t, "apache2", "mariadbd")
	v := p.made("lamp", "lamp", 2)
	web := func(n app.Node) string { return "http://" + address(n) + ":8080/" }
	add := func(n app.Node, text string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), hangs)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, web(n), strings.NewReader(url.Values{"text": {text}}.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatal(resp.Status)
		}
	}
	shows := func(n app.Node, want string) {
		t.Helper()
		p.until(n.Name+" shows "+want, "true", func() (string, error) {
			text, err := page(http.DefaultClient, web(n))
			return fmt.Sprint(strings.Contains(text, want) && strings.Contains(text, "<h1>Notes from "+n.Name+"</h1>")), err
		})
	}
	add(v.Nodes[0], "kept <b>")
	if text, err := page(http.DefaultClient, p.output(v, "site")); err != nil || !strings.Contains(text, "<h1>Notes from") {
		t.Errorf("the output: %v", err)
	}
	shows(v.Nodes[1], "<li>kept &lt;b&gt; (by "+v.Nodes[0].Name+")</li>")
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationResize, Size: 3})
	shows(v.Nodes[2], "kept &lt;b&gt;")
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationReconfigure, Config: map[string]any{"apache": map[string]any{"port": 8080, "workers": 20}}})
	add(v.Nodes[2], "newer")
	shows(v.Nodes[0], "newer")
	p.goes(v, 3)
}

func TestRealTemplateSlurm(t *testing.T) {
	t.Parallel()
	p := newTemplates(t, "slurmctld", "slurmd", "munged")
	v := p.made("batch", "slurm", 3)
	p.publishes(v, "controller", "%s", "", of(v, "slurmctld"))
	run := func(nodes int) {
		t.Helper()
		controller := of(v, "slurmctld")[0]
		var want []string
		for _, n := range of(v, "slurmd") {
			want = append(want, n.Hostname)
		}
		slices.Sort(want)
		p.until("a job on all nodes", strings.Join(want, " "), func() (string, error) {
			out := strings.Fields(p.on(v, controller, fmt.Sprintf("timeout 10 srun --immediate=5 -N%d hostname 2>/dev/null || true", nodes)))
			slices.Sort(out)
			return strings.Join(out, " "), nil
		})
	}
	run(2)
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationResize, Size: 4})
	run(3)
	// Handed in on one node, a job runs on another one, and a third knows how it went.
	workers := of(v, "slurmd")
	from, on, other := workers[0], workers[1], workers[2]
	short := func(n app.Node) string { name, _, _ := strings.Cut(n.Hostname, "."); return name }
	id := p.on(v, from, "cd /tmp && sbatch --parsable --nodelist="+short(on)+" --output=/tmp/said --wrap 'echo kept by $(hostname)'")
	for _, n := range []app.Node{from, other, of(v, "slurmctld")[0]} {
		p.until("what "+n.Name+" knows of the job", "COMPLETED "+short(on), func() (string, error) {
			return p.on(v, n, "scontrol --oneliner show job "+id+` | sed 's/.* JobState=\([A-Z]*\) .* BatchHost=\([^ ]*\) .*/\1 \2/'`), nil
		})
	}
	if out := p.on(v, on, "cat /tmp/said"); out != "kept by "+on.Hostname {
		t.Errorf("the job said %q", out)
	}
	// Its output stays where it ran: the template has no file system that nodes share.
	if out := p.on(v, from, "ls /tmp/said 2>/dev/null || true"); out != "" {
		t.Errorf("%s has %q", from.Name, out)
	}
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationResize, Size: 2})
	run(1)
	p.goes(v, 4)
}

// TestRealTemplateMemcachedWithFirewall takes a base service into an existing cluster: clients that aren't allowed can't connect.
func TestRealTemplateMemcachedWithFirewall(t *testing.T) {
	t.Parallel()
	p := newTemplates(t, "memcached", "nft", "chronyd")
	v := p.made("fast", "memcached", 2)
	p.publishes(v, "servers", "%s:11211", ",", v.Nodes)
	ask := func(n app.Node, text string) (string, error) {
		c, err := (&net.Dialer{Timeout: 2 * time.Second}).DialContext(t.Context(), "tcp", address(n)+":11211")
		if err != nil {
			return "", err
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(30 * time.Second)) // then it is asked again
		_, _ = fmt.Fprint(c, text)
		b := make([]byte, 200)
		k, err := c.Read(b)
		return strings.TrimSpace(string(b[:k])), err
	}
	if out, err := ask(v.Nodes[0], "set word 0 0 4\r\nkept\r\n"); err != nil || out != "STORED" {
		t.Fatal(out, err)
	}
	p.until("the word", "VALUE word 0 4\r\nkept\r\nEND", func() (string, error) { return ask(v.Nodes[0], "get word\r\n") })
	// Nodes know nothing of each other: clients choose one by the key.
	if out, err := ask(v.Nodes[1], "get word\r\n"); err != nil || out != "END" {
		t.Errorf("the other node says %q, %v", out, err)
	}

	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationReconfigure, Config: map[string]any{
		"firewall": map[string]any{"peers": "%join(ip.service.base,' ')%"},
		"hosts":    map[string]any{"addresses": "%join(ip.service.base,' ')%", "names": "%join(host.service.base,' ')%"}}})
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationAddServices, Services: []string{"firewall", "hosts", "chrony"}})
	walled := of(v, "firewall")[0]
	if out, err := ask(walled, "get word\r\n"); err == nil {
		t.Errorf("a stranger gets past the firewall: %q", out)
	}
	from := v.Nodes[0]
	if from.Name == walled.Name {
		from = v.Nodes[1]
	}
	// Its peer gets in; asked over SSH, which is let in too, by the name that is in /etc/hosts.
	if len(of(v, "hosts")) > 0 {
		if out := p.on(v, of(v, "hosts")[0], "getent hosts "+from.Hostname); !strings.Contains(out, from.Address(app.AddressBind)) {
			t.Errorf("the name of %s is %q", from.Name, out)
		}
	}
	out := p.on(v, from, "timeout 5 bash -c 'exec 3<>/dev/tcp/"+walled.Address(app.AddressBind)+"/11211; echo version >&3; head -n 1 <&3'")
	if !strings.HasPrefix(out, "VERSION ") {
		t.Errorf("a peer asks: %q", out)
	}
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationRemoveServices, Services: []string{"firewall"}})
	if _, err := ask(walled, "get word\r\n"); err != nil {
		t.Errorf("without its firewall: %v", err)
	}
	p.goes(v, 2)
}
