package template_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"muster/app"
	"muster/app/template"

	"pgregory.net/rapid"
)

// zoo is a cluster whose nodes are given out of order: n10 must come after n2.
func zoo() template.MacroCluster {
	node := func(name, ip string, services ...string) app.Node {
		return app.Node{
			Name: name, Hostname: name + ".local", Services: services,
			Addresses: map[string]string{"access_v4": "1.1.1." + ip, "bind_v4": "10.0.0." + ip, "ipmi": "9.9.9." + ip},
		}
	}
	return template.MacroCluster{Owner: "ada", Nodes: []app.Node{
		node("n10", "10", "web", "zk"), node("n1", "1", "db"), node("n2", "2", "web", "zk"), node("n3", "3", "web", "a.b-c_d"),
	}}
}

func TestExpandString(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"owner", "%cluster.owner%@example.com", "ada@example.com"},
		{"own host", "%host.self%", "n2.local"},
		{"own address is the one that services bind to", "%ip.self%", "10.0.0.2"},
		{"own address of a kind", "%ip.access_v4.self%", "1.1.1.2"},
		{"own address of any kind", "%ip.ipmi.self%", "9.9.9.2"},
		{"hosts in node order", "%host.service.web%", "n2.local,n3.local,n10.local"},
		{"addresses", "%ip.service.zk%", "10.0.0.2,10.0.0.10"},
		{"addresses of a kind", "%ip.access_v4.service.zk%", "1.1.1.2,1.1.1.10"},
		{"first host", "%host.service.web[0]%", "n2.local"},
		{"last host", "%host.service.web[2]%", "n10.local"},
		{"indexed address", "%ip.service.zk[1]%", "10.0.0.10"},
		{"indexed address of a kind", "%ip.access_v4.service.zk[01]%", "1.1.1.10"},
		{"number", "%num.service.web%", "3"},
		{"rank", "%instance.self.service.web%", "1"},
		{"a service with dots and dashes", "%ip.service.a.b-c_d%", "10.0.0.3"},
		{"the same with a kind", "%ip.access_v4.service.a.b-c_d%", "1.1.1.3"},

		{"join", "%join(host.service.zk,';')%", "n2.local;n10.local"},
		{"join with nothing", "%join(num.service.zk,'')%", "2"},
		{"map", "%map(host.service.zk,'$:80')%", "n2.local:80,n10.local:80"},
		{"join of map", "%join(map(host.service.zk,'$:2181'),',')%/ns", "n2.local:2181,n10.local:2181/ns"},
		{"double quotes", `%join(map(ip.service.zk,"'$'")," ")%`, "'10.0.0.2' '10.0.0.10'"},
		{"dollar signs", "%map(host.service.db,'$$-$-$$$')%", "$-n1.local-$n1.local"},
		{"a format without an element", "%map(host.service.zk,'x')%", "x,x"},
		{"map of one", "%map(host.service.zk[1],'<$>')%", "<n10.local>"},
		{"map of the owner", "%map(cluster.owner,'u-$')%", "u-ada"},
		{"map of the rank", "%map(instance.self.service.zk,'id=$')%", "id=1"},
		{"double percent inside quotes", "%join(host.service.zk,'%%')%", "n2.local%%n10.local"},

		{"several", "a %host.self% b %num.service.db% c", "a n2.local b 1 c"},
		{"no macro", "plain", "plain"},
		{"empty", "", ""},
		{"percent at the end", "100%", "100%"},
		{"percent in the middle", "50% of it", "50% of it"},
		{"doubled stays doubled", "50%% and 60%%", "50%% and 60%%"},
		{"doubled before a macro", "%%%cluster.owner%", "%%ada"},
		{"doubled is no end", "%cluster.owner%%", "%cluster.owner%%"},
		{"four", "%%%%", "%%%%"},
		{"three", "%%%", "%%%"},
		{"a lone one after a macro", "%cluster.owner% at 5%", "ada at 5%"},

		{"service on no node", "%host.service.ghost%", "%host.service.ghost%"},
		{"index of a service on no node", "%ip.service.ghost[3]%", "%ip.service.ghost[3]%"},
		{"number of a service on no node", "%num.service.ghost%", "%num.service.ghost%"},
		{"rank in a service that the node lacks", "%instance.self.service.db%", "%instance.self.service.db%"},
		{"unexpanded beside expanded", "%cluster.owner% %join(host.service.ghost,'-')%!", "ada %join(host.service.ghost,'-')%!"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := zoo()
			got, err := template.ExpandString(tt.in, c, &c.Nodes[2])
			if err != nil || got != tt.want {
				t.Errorf("ExpandString(%q) = %q, %v; want %q", tt.in, got, err, tt.want)
			}
			// The same through a configuration, with everything else left as it is.
			in := map[string]any{"k%host.self%": []any{"x", 1.5, tt.in, nil, map[string]any{"y": true}}}
			m, err := template.ParseMacros(in)
			if err != nil {
				t.Fatal(err)
			}
			shared, err := m.Shared(template.NewMacroCluster(c.Owner, c.Nodes))
			if err != nil {
				t.Fatal(err)
			}
			out, err := shared.For(c.Nodes[2])
			want := map[string]any{"k%host.self%": []any{"x", 1.5, tt.want, nil, map[string]any{"y": true}}}
			if err != nil || !reflect.DeepEqual(out, want) {
				t.Errorf("config gave %v, %v; want %v", out, err, want)
			}
		})
	}
}

func TestTextWithoutNode(t *testing.T) {
	got, err := template.ExpandString("%host.self% %instance.self.service.web% %num.service.web%", zoo(), nil)
	if want := "%host.self% %instance.self.service.web% 3"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestMacroSyntaxErrors(t *testing.T) {
	for _, tt := range []struct{ in, hint string }{
		{"%abc%", "cluster.owner, host.self"},
		{"% %", "another % follows"},
		{"%h %t", "another % follows"},
		{"up to 5% or 10%", "another % follows"},
		{"%cluster.owner%%cluster.owner%", "between two macros"},
		{"%cluster.name%", "cluster.owner"},
		{"%host.self.service.web%", "host.service.<service>"},
		{"%ip.a.b.c%", "ip.<kind>.service.<service>"},
		{"%host.service.%", "host.service.<service>"},
		{"%ip.service.%", "ip.service.<service>"},
		{"%ip..self%", "ip.<kind>.self"},
		{"%instance.service.zk%", "instance.self.service.<service>"},
		{"%num.web%", "num.service.<service>"},
		{"%abc)%", ""}, {"%abc''%", ""},
		{"%map(,'$!')%", ""}, {"%map(host.service.abc)%", ""}, {"%map(host.service.abc,$!)%", ""},
		{"%map(host.service.abc,'$!%", "Double a %"}, {"%map(host.service.abc,'$!'%", ""}, {"%map(host.service.abc,'$!'))%", ""},
		{"%join(,'-')%", ""}, {"%join(host.service.abc)%", ""}, {"%join(host.service.abc,-)%", ""},
		{"%join(host.service.abc,)%", ""}, {"%join(host.service.abc,'-'%", ""}, {"%join(host.service.abc,'-'))%", ""},
		{"%join(map(host.service.abc,'-')))%", ""}, {"%join(host.service.abc, '-')%", "with no spaces"},
		{"%map(join(host.service.abc,'-'),'$')%", ""},
		{"%host.service.abc[123%", "at 0"}, {"%host.service.abc[]%", "at 0"}, {"%host.service.abc]%", ""},
		{"%host.service.abc[1.0]%", "at 0"}, {"%host.service.abc[-1]%", "at 0"}, {"%host.service.abc[0000001]%", "at 0"},
		{"%num.service.abc[1]%", "without an index"}, {"%host.self[0]%", "without an index"},
		{"%HOST.self%", ""}, {"%host.service.ä%", ""},
	} {
		t.Run(tt.in, func(t *testing.T) {
			_, err := template.ParseMacros(map[string]any{"a": map[string]any{"b.c": []any{"ok", tt.in}}})
			var e *app.Error
			if !errors.As(err, &e) || e.Code != app.EInvalid || e.Reason != "macro" {
				t.Fatalf("got %v, want EInvalid", err)
			}
			if want := `config.a["b.c"][1]`; e.Field != want || !strings.Contains(e.Message, want) {
				t.Errorf("the place %s is not reported: field %q, %s", want, e.Field, e.Message)
			}
			if e.Hint == "" || !strings.Contains(e.Hint, tt.hint) {
				t.Errorf("hint %q does not say %q", e.Hint, tt.hint)
			}
			if _, err := template.ExpandString(tt.in, zoo(), nil); app.CodeOf(err) != app.EInvalid {
				t.Errorf("ExpandString: %v", err)
			}
		})
	}
}

func TestIncompleteCluster(t *testing.T) {
	c := zoo()
	c.Nodes[3].Addresses, c.Nodes[3].Hostname = nil, ""
	for _, tt := range []struct{ name, in, says string }{
		{"missing host", "%host.service.web%", "host name of n3"},
		{"missing address", "%ip.service.web%", "bind_v4 address of n3"},
		{"missing kind", "%ip.nat.service.zk%", "nat address of n2"},
		{"missing own address", "%ip.self%", "bind_v4 address of n3"},
		{"missing own host", "%host.self%", "host name of n3"},
		{"index too large", "%host.service.zk[2]%", "node 3 with zk, but there are only 2"},
		{"index too large by one", "%ip.service.db[1]%", "there is only 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := template.ParseMacros(map[string]any{"x": tt.in})
			if err != nil {
				t.Fatal(err)
			}
			shared, err := m.Shared(c)
			if err == nil {
				_, err = shared.For(c.Nodes[3])
			}
			var e *app.Error
			if !errors.As(err, &e) || e.Code != app.EConflict || e.Reason != "incomplete" || e.Field != "config.x" {
				t.Fatalf("got %#v, want EConflict", err)
			}
			if !strings.Contains(e.Message, tt.says) {
				t.Errorf("%q does not say %q", e.Message, tt.says)
			}
			if _, err := template.ExpandString(tt.in, c, &c.Nodes[3]); app.CodeOf(err) != app.EConflict {
				t.Errorf("ExpandString: %v", err)
			}
		})
	}
}

func TestReferencesAndCheck(t *testing.T) {
	m, err := template.ParseMacros(map[string]any{
		"a": "%host.service.web% %ip.self% %num.service.many% %instance.self.service.zk%",
		"b": []any{"%join(map(ip.access_v4.service.db,'$'),',')%", map[string]any{"c": "%host.service.web[2]%"}},
		"d": "%ip.service.ghost[9]%",
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.References(), []string{"db", "ghost", "web"}; !reflect.DeepEqual(got, want) {
		t.Errorf("references %v, want %v", got, want)
	}
	count := func(web int) func(string) int {
		return func(s string) int { return map[string]int{"web": web, "db": 1}[s] }
	}
	if err := m.Check(count(3)); err != nil {
		t.Errorf("three nodes are enough: %v", err)
	}
	if err := m.Check(count(2)); app.CodeOf(err) != app.EInvalid || app.AsError(err).Field != "config.b[1].c" {
		t.Errorf("two nodes are not enough: %v", err)
	}
}

func TestResultsShareWhatIsTheSame(t *testing.T) {
	in := map[string]any{
		"same": map[string]any{"deep": []any{"x"}},
		"list": map[string]any{"peers": "%host.service.web%"},
		"own":  map[string]any{"me": "%host.self%", "big": map[string]any{"k": "v"}},
	}
	before, _ := json.Marshal(in)
	m, err := template.ParseMacros(in)
	if err != nil {
		t.Fatal(err)
	}
	c := zoo()
	shared, err := m.Shared(c)
	if err != nil {
		t.Fatal(err)
	}
	one, _ := shared.For(c.Nodes[0])
	two, _ := shared.For(c.Nodes[1])
	same := func(a, b any) bool { return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() }
	if !same(one["same"], in["same"]) || !same(one["list"], two["list"]) {
		t.Error("a part that does not depend on the node was copied")
	}
	own1, own2 := one["own"].(map[string]any), two["own"].(map[string]any)
	if same(own1, own2) || own1["me"] != "n10.local" || own2["me"] != "n1.local" || !same(own1["big"], own2["big"]) {
		t.Errorf("own parts: %v, %v", own1, own2)
	}
	if after, _ := json.Marshal(in); string(after) != string(before) {
		t.Errorf("the input was changed to %s", after)
	}

	m, _ = template.ParseMacros(map[string]any{"a": "%num.service.web%"})
	shared, _ = m.Shared(c)
	one, _ = shared.For(c.Nodes[0])
	two, _ = shared.For(c.Nodes[1])
	if !same(one, two) {
		t.Error("a configuration without anything of a node's own was copied")
	}
	m, _ = template.ParseMacros(nil)
	shared, _ = m.Shared(c)
	if got, err := shared.For(c.Nodes[0]); len(got) != 0 || err != nil {
		t.Errorf("no configuration gave %v, %v", got, err)
	}
}

// oracle expands by the plainest reading of the rules, one macro at a time: pairs of % are hidden first, then what is
// left between two single ones is looked up. It knows only the forms that the test below makes. ok is false where an
// index is too large.
func oracle(s string, c template.MacroCluster, self app.Node) (string, bool) {
	pieces := strings.Split(strings.ReplaceAll(s, "%%", "\x00"), "%")
	if len(pieces)%2 == 0 { // the last single % has no partner
		n := len(pieces)
		pieces = append(pieces[:n-2], pieces[n-2]+"%"+pieces[n-1])
	}
	shape := regexp.MustCompile(`^(?:join\()?(?:map\()?([A-Za-z.]+)(?:\[([0-9]+)\])?(?:,'([$:]*)'\))?(?:,'([;/]*)'\))?$`)
	for i := 1; i < len(pieces); i += 2 {
		body := pieces[i]
		g := shape.FindStringSubmatch(body)
		joined, mapped := strings.HasPrefix(body, "join("), strings.Contains(body, "map(")
		var values []string
		_, service, _ := strings.Cut(g[1], "service.")
		for _, name := range []string{"n1", "n2", "n3", "n10"} {
			for _, n := range c.Nodes {
				if n.Name != name || !strings.Contains(" "+strings.Join(n.Services, " ")+" ", " "+service+" ") {
					continue
				}
				if strings.HasPrefix(g[1], "host.") {
					values = append(values, n.Hostname)
				} else {
					values = append(values, n.Addresses["bind_v4"])
				}
			}
		}
		switch {
		case g[1] == "host.self":
			values = []string{self.Hostname}
		case len(values) == 0:
			pieces[i] = "%" + body + "%"
			continue
		case strings.HasPrefix(g[1], "num."):
			values = []string{strconv.Itoa(len(values))}
		case g[2] != "":
			k, _ := strconv.Atoi(g[2])
			if k >= len(values) {
				return "", false
			}
			values = values[k : k+1]
		}
		if mapped {
			for j, v := range values {
				f := strings.ReplaceAll(g[3], "$$", "\x01")
				values[j] = strings.ReplaceAll(strings.ReplaceAll(f, "$", v), "\x01", "$")
			}
		}
		sep := ","
		if joined {
			sep = g[4]
		}
		pieces[i] = strings.Join(values, sep)
	}
	return strings.ReplaceAll(strings.Join(pieces, ""), "\x00", "%%"), true
}

func TestMacrosMatchTheOracle(t *testing.T) {
	c := zoo()
	text := rapid.SampledFrom([]string{"", " ", "x", "%%", "a%%b", "100", "$", "'", "ü"})
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(0, 4).Draw(t, "pieces") {
			b.WriteString("-" + text.Draw(t, "text") + "-")
			name := rapid.SampledFrom([]string{"host.self", "host.service.web", "ip.service.zk", "num.service.db",
				"host.service.ghost", "ip.service.web[1]", "host.service.zk[5]"}).Draw(t, "macro")
			if rapid.Bool().Draw(t, "map") {
				name = fmt.Sprintf("map(%s,'%s')", name, rapid.SampledFrom([]string{"", "$", "$:$", "$$", "$$$:"}).Draw(t, "format"))
			}
			if rapid.Bool().Draw(t, "join") {
				name = fmt.Sprintf("join(%s,'%s')", name, rapid.SampledFrom([]string{"", ";", "/;"}).Draw(t, "separator"))
			}
			b.WriteString("%" + name + "%")
		}
		b.WriteString("-" + rapid.SampledFrom([]string{"", "%", "5% left", "%%"}).Draw(t, "tail"))
		want, ok := oracle(b.String(), c, c.Nodes[2])
		got, err := template.ExpandString(b.String(), c, &c.Nodes[2])
		if ok != (err == nil) || ok && got != want {
			t.Fatalf("%q gave %q, %v; want %q, %v", b.String(), got, err, want, ok)
		}
	})
}

func FuzzMacro(f *testing.F) {
	for _, s := range []string{"", "100%", "%h %t", "%%", "%%%host.self%", "%cluster.owner%%cluster.owner%", "%host.service.web[1]%",
		`%join(map(ip.access_v4.service.zk,"$$$:1"),'%%')% x %num.service.ghost% 5%`, "%instance.self.service.web%"} {
		f.Add(s)
	}
	c := zoo()
	f.Fuzz(func(t *testing.T, s string) {
		m, err := template.ParseMacros(map[string]any{"a": []any{s}})
		if err != nil {
			if e := app.AsError(err); e.Code != app.EInvalid || e.Field != "config.a[0]" || e.Hint == "" {
				t.Fatalf("%q: %#v", s, e)
			}
			return
		}
		shared, err := m.Shared(c)
		var config map[string]any
		if err == nil {
			config, err = shared.For(c.Nodes[2])
		}
		text, textErr := template.ExpandString(s, c, &c.Nodes[2])
		if (err == nil) != (textErr == nil) {
			t.Fatalf("%q: config %v, text %v", s, err, textErr)
		}
		if err != nil {
			if app.CodeOf(err) != app.EConflict {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		if got := config["a"].([]any)[0]; got != text {
			t.Fatalf("%q: config %q, text %q", s, got, text)
		}
		if !strings.Contains(strings.ReplaceAll(s, "%%", ""), "%") && text != s {
			t.Fatalf("%q has no macro but became %q", s, text)
		}
	})
}

func BenchmarkMacros10000Nodes(b *testing.B) {
	nodes := make([]app.Node, 10000)
	for i := range nodes {
		name := app.NodeName(i + 1)
		nodes[i] = app.Node{Name: name, Hostname: name + ".local", Services: []string{"base", "web"},
			Addresses: map[string]string{"bind_v4": fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255)}}
	}
	config := map[string]any{"id": "%instance.self.service.web%", "peers": "%join(map(ip.service.web,'$:1'),' ')%"}
	for i := range 200 {
		config[fmt.Sprintf("section%d", i)] = map[string]any{"a": "%ip.service.web[0]%", "b": "plain", "c": []any{1.0, 2.0}}
	}
	m, err := template.ParseMacros(config)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		shared, err := m.Shared(template.NewMacroCluster("ada", nodes))
		if err != nil {
			b.Fatal(err)
		}
		for _, n := range nodes {
			if _, err := shared.For(n); err != nil {
				b.Fatal(err)
			}
		}
	}
}
