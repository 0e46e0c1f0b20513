package gcp

import (
	"net/url"
	"reflect"
	"testing"

	"muster/providers/google/internal/discovery"
)

// Each call of the client is one of Google's APIs, with a path, parameters and a body as the API has them, and the types of what it sends and returns
// have the API's fields.
func TestCallsAreAsGoogleDescribesThem(t *testing.T) {
	apis, err := discovery.Load()
	if err != nil {
		t.Fatal(err)
	}
	server := record(t)
	for name, c := range calls {
		if name == escaped {
			continue
		}
		if err := c.call(t.Context(), server.client()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		at, err := url.Parse(server.uri)
		if err != nil {
			t.Fatal(err)
		}
		described, err := discovery.Find(apis, server.method, at, []byte(server.body))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		m, is := reflect.TypeFor[*Client]().MethodByName(name)
		if !is {
			continue // another form of a call, such as RecordSets of all names
		}
		for in := range m.Type.Ins() {
			switch {
			case in == reflect.TypeFor[*Client]() || in.Kind() != reflect.Pointer && in.Kind() != reflect.Func: // ctx and names
			case in.Kind() == reflect.Func: // takes a page of a list
				err = described.CompareType(in.In(0).Elem().Name(), in.In(0), described.Response)
			default:
				err = described.CompareType(in.Elem().Name(), in, described.Request)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if out := m.Type.Out(0); out.Kind() == reflect.Pointer {
			if err := described.CompareType(out.Elem().Name(), out, described.Response); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	described, err := discovery.Find(apis, "POST", &url.URL{Path: "/v1/projects/p:testIamPermissions"}, []byte(`{"permissions":["x"]}`))
	if err == nil {
		err = described.CompareType("Permissions", reflect.TypeFor[Permissions](), described.Response)
	}
	if err != nil {
		t.Error(err)
	}
}
