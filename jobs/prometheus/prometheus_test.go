package prometheus

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"muster/app"
	"muster/app/netguard"
)

func TestQueries(t *testing.T) {
	guard := &netguard.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	for name, c := range map[string]struct {
		status int
		body   string
		want   float64
		says   string
	}{
		"a vector":        {200, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"2.5"]}]}}`, 2.5, ""},
		"a scalar":        {200, `{"status":"success","data":{"resultType":"scalar","result":[1,"7"]}}`, 7, ""},
		"nothing":         {200, `{"status":"success","data":{"resultType":"vector","result":[]}}`, 0, "0 results instead of one"},
		"two":             {200, `{"status":"success","data":{"resultType":"vector","result":[{"value":[1,"1"]},{"value":[1,"2"]}]}}`, 0, "2 results instead of one"},
		"a matrix":        {200, `{"status":"success","data":{"resultType":"matrix","result":[]}}`, 0, `"matrix", not a number`},
		"not a number":    {200, `{"status":"success","data":{"resultType":"scalar","result":[1,"NaN"]}}`, 0, "isn't a number"},
		"a wrong query":   {400, `{"status":"error","errorType":"bad_data","error":"parse error: unexpected end"}`, 0, "parse error: unexpected end"},
		"something else":  {200, `<html>`, 0, "isn't one of Prometheus' query API"},
		"a broken sample": {200, `{"status":"success","data":{"resultType":"vector","result":[{"value":[]}]}}`, 0, "isn't one of Prometheus' query API"},
		"no such page":    {404, `not found`, 0, "status 404"},
		"a redirect":      {302, ``, 0, "status 302"},
		"much too much":   {200, strings.Repeat(" ", maxRead+1), 0, "more than"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/prom/api/v1/query" || r.FormValue("query") != "sum(up)" || r.Method != http.MethodPost {
				t.Errorf("%s: asked %s %s for %q", name, r.Method, r.URL, r.FormValue("query"))
			}
			if c.status == 302 {
				w.Header().Set("Location", "http://127.0.0.1:1/")
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		got, err := New(Config{Guard: guard}).Query(t.Context(), server.URL+"/prom/", "sum(up)")
		if got != c.want || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %g, %v", name, got, err)
		}
		server.Close()
	}
}

// A tenant's URL leads to no address of the server or its network.
func TestPrivateAddressesAreNotAsked(t *testing.T) {
	asked := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer server.Close()
	for _, address := range []string{server.URL, "http://169.254.169.254", "https://10.0.0.1", "https://localhost:1", "file:///etc/passwd", "https://"} {
		if _, err := New(Config{}).Query(t.Context(), address, "up"); app.CodeOf(err) != app.EForbidden && app.CodeOf(err) != app.EInvalid || asked {
			t.Errorf("%s: %v", address, err)
		}
	}
}
