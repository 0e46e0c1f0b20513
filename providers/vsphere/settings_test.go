package vsphere

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vmware/govmomi/vim25/types"

	"muster/app"
	"muster/app/family"
	"muster/providers/internal/account"
)

func TestSettings(t *testing.T) {
	good := map[string]any{"url": "https://vcenter.example.com", "username": "u", "password": "p"}
	for name, c := range map[string]struct {
		set   map[string]any
		field string
	}{
		"enough":                         {nil, ""},
		"an address with the API's path": {map[string]any{"url": "https://vcenter.example.com/sdk"}, ""},
		"another port":                   {map[string]any{"url": "https://vcenter.example.com:8443/"}, ""},
		"without TLS":                    {map[string]any{"url": "http://vcenter.example.com"}, "settings.url"},
		"without a scheme":               {map[string]any{"url": "vcenter.example.com"}, "settings.url"},
		"with a password":                {map[string]any{"url": "https://u:hunter2@vcenter.example.com"}, "settings.url"},
		"with a password, and broken":    {map[string]any{"url": "https://u:hunter2@vcenter.example.com:x y"}, "settings.url"},
		"with another path":              {map[string]any{"url": "https://vcenter.example.com/a"}, "settings.url"},
		"a thumbprint":                   {map[string]any{"thumbprint": strings.TrimSuffix(strings.Repeat("AB:", 32), ":")}, ""},
		"openssl's line":                 {map[string]any{"thumbprint": "sha256:" + strings.Repeat("ab", 32)}, ""},
		"a SHA-1 thumbprint":             {map[string]any{"thumbprint": strings.Repeat("ab", 20)}, "settings.thumbprint"},
		"a thumbprint and a CA":          {map[string]any{"thumbprint": strings.Repeat("ab", 32), "ca_certificate": aCertificate(t)}, "settings.thumbprint"},
		"a CA":                           {map[string]any{"ca_certificate": aCertificate(t)}, ""},
		"a CA that is none":              {map[string]any{"ca_certificate": "none"}, "settings.ca_certificate"},
		"folders":                        {map[string]any{"folder": "/tools/muster/"}, ""},
		"a folder above":                 {map[string]any{"folder": "tools/../.."}, "settings.folder"},
		"a disk that's too large":        {map[string]any{"data_disk_gb": "99999"}, "settings.data_disk_gb"},
		"a disk that's negative":         {map[string]any{"root_disk_gb": "-1"}, "settings.root_disk_gb"},
		"user data that are none":        {map[string]any{"user_data": "hello"}, "settings.user_data"},
	} {
		err := Check(account.Settings(good).With(texts(c.set)))
		if e := app.AsError(err); (err == nil) != (c.field == "") || err != nil && (e.Code != app.EInvalid || e.Field != c.field) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error()+app.AsError(err).Hint, "hunter2") {
			t.Errorf("%s: the password is in the message: %v", name, err)
		}
	}
}

func texts(m map[string]any) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		out[k] = fmt.Sprint(v)
	}
	return out
}

func TestSizes(t *testing.T) {
	for flavor, want := range map[string]size{"2x4": {2, 4096}, "1x0.5": {1, 512}, "1x0.25": {1, 256}, " 16X64 ": {16, 65536}, "768x24576": {768, 24576 << 10}} {
		if got, err := readSize(flavor); err != nil || got != want {
			t.Errorf("%q: %+v, %v", flavor, got, err)
		}
	}
	for _, flavor := range []string{"", "2", "2x", "x4", "0x4", "2x0", "769x4", "2x24577", "2x0.1", "-1x4",
		"2x4x6", "2x4 GB", "2x0.99999", "1x0.33", "m7i.large"} {
		if got, err := readSize(flavor); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%q: %+v, %v", flavor, got, err)
		}
	}
}

// Whatever vCenter says has a code, and no type of Go's in its message.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		fault types.BaseMethodFault
		code  app.Code
	}{
		{&types.InvalidLogin{}, app.ECredentials},
		{&types.NoPermission{PrivilegeId: "Folder.Create"}, app.ECredentials},
		{&types.NotAuthenticated{}, app.ETransient},
		{&types.InsufficientMemoryResourcesFault{}, app.ECapacity},
		{&types.InsufficientFailoverResourcesFault{}, app.ECapacity},
		{&types.NoDiskSpace{}, app.ECapacity},
		{&types.InsufficientStorageSpace{}, app.ECapacity},
		{&types.NoActiveHostInCluster{}, app.ECapacity},
		{&types.NotEnoughLicenses{}, app.EQuota},
		{&types.DuplicateName{}, app.EConflict},
		{&types.ManagedObjectNotFound{}, app.ENotFound},
		{&types.NotFound{}, app.EInvalid},
		{&types.InvalidArgument{}, app.EInvalid},
		{&types.InvalidVmConfig{}, app.EInvalid},
		{&types.TaskInProgress{}, app.ETransient},
		{&types.ConcurrentAccess{}, app.ETransient},
		{&types.ResourceInUse{}, app.ETransient},
		{&types.HostNotConnected{}, app.ETransient},
		{&types.InvalidState{}, app.ETransient},
		{&types.SystemError{}, app.ETransient},
		{&types.Timedout{}, app.ETimeout},
	} {
		for _, said := range []string{"", "*types.Something", "The words of vCenter."} {
			err := taskFailure(&types.LocalizedMethodFault{Fault: c.fault, LocalizedMessage: said})
			e := app.AsError(err)
			if e.Code != c.code || len(e.Message) < 15 || strings.Contains(e.Message, "*") || strings.Contains(e.Message, "..") {
				t.Errorf("%T, %q: %+v", c.fault, said, e)
			}
			if c.code == app.ECapacity && e.Hint == "" || c.code == app.ECredentials && e.Hint == "" {
				t.Errorf("%T: no hint", c.fault)
			}
		}
	}
	if e := app.AsError(taskFailure(nil)); e.Code != app.ETransient {
		t.Errorf("a task without a fault: %+v", e)
	}
	if long := refusal(&types.SystemError{}, strings.Repeat("ä", 9999)); len(long.Message) > 400 {
		t.Errorf("%d bytes of vCenter's words", len(long.Message))
	}
}

// What answers at the address may be no vCenter at all.
func TestOtherServers(t *testing.T) {
	const host = `<?xml version="1.0"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body>` +
		`<RetrieveServiceContentResponse xmlns="urn:vim25"><returnval>` +
		`<rootFolder type="Folder">ha-folder-root</rootFolder><about><name>VMware ESXi</name><fullName>VMware ESXi 8</fullName><apiType>HostAgent</apiType></about>` +
		`</returnval></RetrieveServiceContentResponse></soapenv:Body></soapenv:Envelope>`
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter)
		code   app.Code
	}{
		"a single host": {func(w http.ResponseWriter) { _, _ = w.Write([]byte(host)) }, app.EInvalid},
		"a web page":    {func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html><p>hello")) }, app.ETransient},
		"nothing":       {func(http.ResponseWriter) {}, app.ETransient},
		"not found":     {func(w http.ResponseWriter) { http.Error(w, "404", http.StatusNotFound) }, app.EInvalid},
		"elsewhere": {func(w http.ResponseWriter) {
			w.Header().Set("Location", "https://example.com/")
			w.WriteHeader(http.StatusFound)
		}, app.EInvalid},
		"overloaded": {func(w http.ResponseWriter) { http.Error(w, "later", http.StatusTooManyRequests) }, app.ERateLimit},
	} {
		bodies := ""
		srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			bodies += method(r)
			c.answer(w)
		}))
		w := world{url: srv.URL}
		k := w.open(t, "ca_certificate", "", "thumbprint", fmt.Sprintf("%x", sha256.Sum256(srv.Certificate().Raw)))
		_, err := k.List(context.Background(), nil)
		if e := app.AsError(err); e.Code != c.code {
			t.Errorf("%s: %v", name, err)
		}
		found, err := k.CheckAccount(context.Background(), family.AccountNeeds{})
		if err != nil || len(found) != 1 || found[0].OK || found[0].Hint == "" {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
		if strings.Contains(bodies, "Login") {
			t.Errorf("%s: it was sent the password", name)
		}
		_ = k.Close()
		srv.Close()
	}
}

// The page has the privileges that the check looks for.
func TestPrivilegesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/providers/vsphere.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range slices.Concat(folderPrivileges, []string{
		"Folder.Create", "VirtualMachine.Provisioning.DeployTemplate", "Resource.AssignVMToPool", "Datastore.AllocateSpace", "Network.Assign",
	}) {
		if strings.Count(string(page), p) < 2 {
			t.Errorf("docs/providers/vsphere.md lacks %s in its table or its command", p)
		}
	}
}

func TestWhatIsAnError(t *testing.T) {
	if err := errors.New("dial"); failure(err) != err {
		t.Error("failures of the network are the wrapper's")
	}
}
