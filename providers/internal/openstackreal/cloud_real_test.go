//go:build real && openstack && linux

package openstackreal

import (
	"embed"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"text/template"
	"time"
)

//go:embed testdata
var files embed.FS

const (
	python   = "/usr/bin/python3" // Debian's, which its packages are for
	password = "service-secret-0" // of the services' users
	root     = "admin-secret-0"   // of admin
)

// Ports, in a network of the tests' own. The services call each other at these; the public endpoints are in front of them, with faults.
const (
	portDatabase  = 13306
	portQueue     = 25671
	portQueueDist = 25672
	portEPMD      = 14369
	portKeystone  = 15000
	portPlacement = 15001
	portNova      = 15002
	portGlance    = 15003
	portNeutron   = 15004
)

// openStack is a running cloud.
type openStack struct {
	dir   string
	front *front

	mu      sync.Mutex
	running map[string]*process
	tokens  map[string]token
}

// start starts a cloud from nothing.
func start(dir string) (*openStack, error) {
	c := &openStack{dir: dir, running: map[string]*process{}, tokens: map[string]token{}}
	if err := settle(dir); err != nil {
		return nil, err
	}
	began := time.Now()
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"configuration", c.configure},
		{"database and message queue", func() error { return together(c.startDatabase, c.startQueue) }},
		{"tables", c.makeTables},
		{"identity and placement", c.startIdentity},
		{"services", c.startServices},
		{"networks, images and flavors", c.seed},
	} {
		if err := step.do(); err != nil {
			return nil, fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Printf("OpenStack has its %s after %s\n", step.name, time.Since(began).Round(time.Second))
	}
	return c, nil
}

func (c *openStack) launch(name string, env []string, argv ...string) (*process, error) {
	p, err := launch(c.dir, name, env, argv...)
	if err == nil {
		c.mu.Lock()
		c.running[name] = p
		c.mu.Unlock()
	}
	return p, err
}

func (c *openStack) path(parts ...string) string {
	return filepath.Join(append([]string{c.dir}, parts...)...)
}

// configure writes the configuration of all parts.
func (c *openStack) configure() error {
	for _, d := range []string{"etc/placement", "etc/none", "log", "lock", "mysql", "queue", "run", "nova", "neutron", "machines",
		"keystone/fernet", "keystone/credential", "glance/images", "glance/staging", "glance/tasks"} {
		if err := os.MkdirAll(c.path(d), 0o755); err != nil {
			return err
		}
	}
	values := map[string]any{
		"Dir": c.dir, "Password": password,
		"Database": fmt.Sprintf("mysql+pymysql://root@127.0.0.1:%d", portDatabase),
		"Queue":    fmt.Sprintf("rabbit://guest:guest@127.0.0.1:%d/", portQueue),
		"Keystone": address(portKeystone) + "/v3", "Nova": portNova, "Glance": portGlance, "Neutron": portNeutron,
	}
	found, err := files.ReadDir("testdata")
	if err != nil {
		return err
	}
	for _, f := range found {
		b, err := files.ReadFile("testdata/" + f.Name())
		if err != nil {
			return err
		}
		t, err := template.New(f.Name()).Option("missingkey=error").Parse(string(b))
		if err != nil {
			return err
		}
		var text strings.Builder
		if err := t.Execute(&text, values); err != nil {
			return err
		}
		at := c.path("etc", f.Name())
		if f.Name() == "placement.conf" { // it wants a directory
			at = c.path("etc", "placement", f.Name())
		}
		if err := os.WriteFile(at, []byte(text.String()), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func address(port int) string { return "http://127.0.0.1:" + strconv.Itoa(port) }

func listens(port int) func() error {
	return func() error {
		conn, err := net.DialTimeout("tcp", "127.0.0.1:"+strconv.Itoa(port), time.Second)
		if err == nil {
			err = conn.Close()
		}
		return err
	}
}

func (c *openStack) startDatabase() error {
	err := finish(launch(c.dir, "mariadb-install", nil, "mariadb-install-db", "--no-defaults", "--user=root", "--datadir="+c.path("mysql"),
		"--auth-root-authentication-method=normal", "--skip-test-db"))
	if err != nil {
		return err
	}
	p, err := c.launch("mariadb", nil, "mariadbd", "--no-defaults", "--user=root", "--datadir="+c.path("mysql"), "--bind-address=127.0.0.1",
		"--port="+strconv.Itoa(portDatabase), "--socket="+c.path("run", "mysql.sock"), "--pid-file="+c.path("run", "mysql.pid"),
		"--innodb-flush-log-at-trx-commit=0", "--max-connections=500", "--skip-name-resolve")
	if err != nil {
		return err
	}
	if err := p.until("listener", listens(portDatabase)); err != nil {
		return err
	}
	var sql strings.Builder
	for _, name := range []string{"keystone", "nova", "nova_api", "nova_cell0", "placement", "glance", "neutron"} {
		fmt.Fprintf(&sql, "create database %s character set utf8mb3;\n", name)
	}
	sql.WriteString("create user if not exists root@'127.0.0.1'; grant all on *.* to root@'127.0.0.1';\n")
	ask := exec.Command("mariadb", "--no-defaults", "--socket="+c.path("run", "mysql.sock"), "-uroot")
	ask.Stdin = strings.NewReader(sql.String())
	if out, err := ask.CombinedOutput(); err != nil {
		return fmt.Errorf("create the databases: %w\n%s", err, out)
	}
	return nil
}

func (c *openStack) startQueue() error {
	env := []string{"RABBITMQ_NODENAME=openstack@localhost", "RABBITMQ_NODE_IP_ADDRESS=127.0.0.1", fmt.Sprintf("RABBITMQ_NODE_PORT=%d", portQueue),
		fmt.Sprintf("RABBITMQ_DIST_PORT=%d", portQueueDist), fmt.Sprintf("ERL_EPMD_PORT=%d", portEPMD), "ERL_EPMD_ADDRESS=127.0.0.1",
		"RABBITMQ_MNESIA_BASE=" + c.path("queue"), "RABBITMQ_LOG_BASE=" + c.path("log"), "RABBITMQ_ENABLED_PLUGINS_FILE=" + c.path("etc", "none", "plugins"),
		"RABBITMQ_CONF_ENV_FILE=" + c.path("etc", "none", "env"), "RABBITMQ_CONFIG_FILE=" + c.path("etc", "none", "rabbit"),
		"RABBITMQ_PID_FILE=" + c.path("run", "rabbit.pid"),
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-kernel inet_dist_use_interface {127,0,0,1}", "HOME=" + c.path("queue")}
	p, err := c.launch("rabbitmq", env, "/usr/lib/rabbitmq/bin/rabbitmq-server")
	if err != nil {
		return err
	}
	return p.until("listener", listens(portQueue))
}

func (c *openStack) etc(name string) string { return c.path("etc", name) }

// tool runs the main function of a module to its end.
func (c *openStack) tool(name, module string, args ...string) error {
	return finish(launch(c.dir, name, nil, append([]string{python, c.etc("service.py"), module}, args...)...))
}

func (c *openStack) makeTables() error {
	keystone := func(args ...string) error {
		return c.tool("keystone-manage", "keystone.cmd.manage", append([]string{"--config-file", c.etc("keystone.conf")}, args...)...)
	}
	nova := func(args ...string) error {
		return c.tool("nova-manage", "nova.cmd.manage", append([]string{"--config-file", c.etc("nova.conf")}, args...)...)
	}
	return together(
		func() error {
			return inOrder(
				func() error { return keystone("db_sync") },
				func() error { return keystone("fernet_setup", "--keystone-user", "root", "--keystone-group", "root") },
				func() error {
					return keystone("credential_setup", "--keystone-user", "root", "--keystone-group", "root")
				},
				func() error {
					return keystone("bootstrap", "--bootstrap-password", root, "--bootstrap-region-id", "RegionOne", "--bootstrap-admin-url", address(portKeystone)+"/v3",
						"--bootstrap-internal-url", address(portKeystone)+"/v3", "--bootstrap-public-url", address(publicKeystone)+"/v3")
				},
				func() error {
					return finish(launch(c.dir, "placement-manage", []string{"OS_PLACEMENT_CONFIG_DIR=" + c.path("etc", "placement")}, python, c.etc("service.py"),
						"placement.cmd.manage", "--config-dir", c.path("etc", "placement"), "db", "sync"))
				},
				func() error {
					return c.tool("glance-manage", "glance.cmd.manage", "--config-file", c.etc("glance.conf"), "db_sync")
				})
		},
		func() error {
			return inOrder(
				func() error { return nova("api_db", "sync") },
				func() error { return nova("cell_v2", "map_cell0") },
				func() error { return nova("cell_v2", "create_cell", "--name", "cell1") },
				func() error { return nova("db", "sync") })
		},
		func() error {
			return c.tool("neutron-db-manage", "neutron.db.migration.cli", "--config-file", c.etc("neutron.conf"), "upgrade", "heads")
		},
	)
}

func inOrder(do ...func() error) error {
	for _, f := range do {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

func (c *openStack) startIdentity() error {
	wsgi := func(name, application string, port int, env string) func() error {
		return func() error {
			p, err := c.launch(name, []string{env}, python, c.etc("wsgi.py"), application, strconv.Itoa(port))
			if err != nil {
				return err
			}
			return p.until("listener", listens(port))
		}
	}
	err := together(wsgi("keystone", "keystone.server.wsgi:initialize_public_application", portKeystone, "OS_KEYSTONE_CONFIG_FILES="+c.etc("keystone.conf")),
		wsgi("placement", "placement.wsgi:init_application", portPlacement, "OS_PLACEMENT_CONFIG_DIR="+c.path("etc", "placement")))
	if err != nil {
		return err
	}
	if c.front, err = newFront(); err != nil {
		return err
	}
	return c.people()
}

// service starts one of the programs with a main function.
func (c *openStack) service(name, module, config string, flags ...string) (*process, error) {
	argv := append([]string{python}, flags...)
	return c.launch(name, nil, append(argv, c.etc("service.py"), module, "--config-file", c.etc(config))...)
}

func (c *openStack) startServices() error {
	one := func(name, module, config string, port int) func() error {
		return func() error {
			p, err := c.service(name, module, config)
			if err != nil || port == 0 {
				return err
			}
			return p.until("listener", listens(port))
		}
	}
	return together(
		func() error { return c.startNeutron(true) },
		one("glance", "glance.cmd.api", "glance.conf", portGlance),
		one("nova-conductor", "nova.cmd.conductor", "nova.conf", 0),
		one("nova-scheduler", "nova.cmd.scheduler", "nova.conf", 0),
		one("nova-compute", "nova.cmd.compute", "nova.conf", 0),
		one("nova-api", "nova.cmd.api_os_compute", "nova.conf", portNova))
}

// startNeutron starts Neutron. Its driver for tests has assertions that fail under Nova's calls: where they count, every server ends in ERROR.
func (c *openStack) startNeutron(working bool) error {
	var flags []string
	if working {
		flags = []string{"-O"}
	}
	p, err := c.service("neutron", "neutron.cmd.eventlet.server", "neutron.conf", flags...)
	if err != nil {
		return err
	}
	return p.until("listener", listens(portNeutron))
}

// freeze stops a service for a while without its knowing; what it returns lets it continue.
func (c *openStack) freeze(name string) (thaw func()) {
	p := c.process(name)
	p.signal(syscall.SIGSTOP)
	return func() { p.signal(syscall.SIGCONT) }
}

// restartNeutron starts Neutron again, with its driver working or not.
func (c *openStack) restartNeutron(working bool) error {
	c.process("neutron").stop(30 * time.Second)
	if err := c.startNeutron(working); err != nil {
		return err
	}
	return c.process("neutron").until("answer", func() error {
		_, err := c.list("admin", "network", "/networks", "networks")
		return err
	})
}

// process returns the one that runs under a name now.
func (c *openStack) process(name string) *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running[name]
}
