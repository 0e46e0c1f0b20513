package tenantfile

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"muster/app/settings"
	"pgregory.net/rapid"
)

// words are texts that YAML could take for something else, or trip over.
var words = []string{"", "a", "off", "yes", "null", "~", "1", "1.5", "0x1f", "2026-11-23", "a: b", "- a", "# no", "a\nb", "a\nb\n", "\na", " a", "a ", "\ta", "a\tb\n\n", "a\n\n\n", "'", "\"", "{x}", "[", "|",
	"${secret:A}", "ä☃", "a\r\nb", "\u2028", "\ufeffa", "  a\n b", "%", "@x", "*a", "&a", "<<", "=", "\x00"[:0], "a\\n"}

func text(t *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 3).Draw(t, label), "")
}

// draw fills a value with anything that it can hold.
func draw(t *rapid.T, v reflect.Value, depth int) {
	if v.CanAddr() {
		if l, ok := v.Addr().Interface().(*settings.TimeLength); ok {
			*l = settings.TimeLength(time.Duration(rapid.IntRange(0, 200_000).Draw(t, "length")) * rapid.SampledFrom([]time.Duration{time.Second, time.Minute, time.Millisecond}).Draw(t, "unit"))
			return
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "set") {
			v.Set(reflect.New(v.Type().Elem()))
			draw(t, v.Elem(), depth)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			draw(t, v.Field(i), depth+1)
		}
	case reflect.Map:
		if rapid.Bool().Draw(t, "there") {
			v.Set(reflect.MakeMap(v.Type()))
			for range rapid.IntRange(0, 2).Draw(t, "entries") {
				one := reflect.New(v.Type().Elem()).Elem()
				draw(t, one, depth+1)
				v.SetMapIndex(reflect.ValueOf(text(t, "key")), one)
			}
		}
	case reflect.Slice:
		for range rapid.IntRange(0, 2).Draw(t, "items") {
			one := reflect.New(v.Type().Elem()).Elem()
			draw(t, one, depth+1)
			v.Set(reflect.Append(v, one))
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf(rapid.SampledFrom([]any{"a", "1", true, 2.0, 1.5, []any{"x", 1.0}, map[string]any{"on": "off"}}).Draw(t, "any")))
	case reflect.String:
		v.SetString(text(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(rapid.IntRange(-3, 1000).Draw(t, "int")))
	case reflect.Float64:
		v.SetFloat(rapid.SampledFrom([]float64{0, 0.1, 3, 1e9, 12.25, 1e-7}).Draw(t, "float"))
	}
}

// What is written is read as it was, whatever it is, and written the same once more.
func TestTenantFileRoundTrip(t *testing.T) {
	t.Parallel()
	var f Files
	rapid.Check(t, func(t *rapid.T) {
		var drawn tenantForm
		draw(t, reflect.ValueOf(&drawn).Elem(), 0)
		drawn.Form = settings.TenantForm
		s := drawn.settings()
		if !reflect.DeepEqual(formOf(s), drawn) {
			t.Fatalf("%+v\nis not\n%+v", formOf(s), drawn)
		}
		written := f.WriteTenant(s)
		back, places, problems := f.ReadTenant(written)
		if len(problems) > 0 {
			t.Fatalf("%+v\n%s", problems, written)
		}
		if again := f.WriteTenant(back); again != written {
			t.Fatalf("it was\n%s\nand is\n%s", written, again)
		}
		if !reflect.DeepEqual(s.Policies, back.Policies) || !reflect.DeepEqual(s.Users, back.Users) || !reflect.DeepEqual(s.Catalog, back.Catalog) || !reflect.DeepEqual(s.Quotas, back.Quotas) || !reflect.DeepEqual(s.Secrets, back.Secrets) {
			t.Fatalf("%+v\nis not\n%+v\n%s", s, back, written)
		}
		for name := range s.Users {
			if places["users."+name].Line == 0 {
				t.Fatalf("it is not known where %q is", name)
			}
		}
	})
}

// FuzzRead: no text makes it fall over.
func FuzzRead(f *testing.F) {
	f.Add("muster_tenant: 1\nusers: {a: {role: user}}\n")
	f.Add("muster_tenant: 1\nusers: &a {b: *a}\n")
	f.Add("muster_tenant: 1\nbuild_hooks: {a: {system: x, owner: y, secret: z, rules: [{name: a, when: b, do: c, parameters: {x: [1, {y: ~}]}}]}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, _, problems := Files{}.ReadTenant(text)
		if len(problems) > 0 {
			return
		}
		if _, _, problems := (Files{}).ReadTenant((Files{}).WriteTenant(s)); len(problems) > 0 {
			t.Errorf("%+v", problems)
		}
	})
}
